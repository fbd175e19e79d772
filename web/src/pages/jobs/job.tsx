import { Anchor, Group, SimpleGrid, Skeleton, Text } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { useGet } from '../../api/queries';
import { dateTime, duration } from '../../format';
import { CopyLine } from '../../parts/copy-line';
import { Loaded, Page } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { StateBadge } from '../../parts/state-badge';
import { When } from '../../parts/when';
import { yamlOfJob } from './file/of-job';
import { Actions } from './job/actions';
import { DownloadModel, Files } from './job/files';
import { Logs } from './job/logs';
import { useMachineNames } from './job/names';
import type { ResultFile } from './job/results';
import { Spending } from './job/spending';
import { Stalls } from './job/stalls';
import { Timeline } from './job/timeline';
import { TrainingPanel } from './job/training';
import { Why } from './job/why';
import { Workers } from './job/workers';
import { sweeps, trains } from './kinds';
import { SweepPanel } from './sweep';

type Job = Schemas['Job'];

const kLeases = 500; // The latest.
const kNoFiles: ResultFile[] = [];
const kNothing: string[] = [];

function About({ job }: { job: Job }) {
  const took =
    job.started && job.ended ? (Date.parse(job.ended) - Date.parse(job.started)) / 1000 : undefined;
  return (
    <Group gap="xs">
      <StateBadge state={job.state} />
      <span>
        {job.id}, {job.kind}, class {job.class}; submitted <When at={job.created} />
        {job.sweep && (
          <>
            ; a trial of{' '}
            <Anchor component={Link} href={`/jobs/${job.sweep}`} size="sm">
              {job.sweep}
            </Anchor>
          </>
        )}
        {took !== undefined && `; took ${duration(took)}`}
        {job.deadline && !job.ended && `; deadline ${dateTime(job.deadline)}`}
        {job.reason && `; ${job.reason}`}
      </span>
    </Group>
  );
}

function wantsMore(job: Job): boolean {
  return !job.ended && job.held + job.done < Math.min(job.workers.max, job.planned ?? job.workers.max);
}

function Found({ job }: { job: Job }) {
  const path = { id: job.id };
  const live = !job.ended;
  const isTraining = trains(job.kind);
  const isSweep = sweeps(job.kind);
  const leases = useGet('/v1/jobs/{id}/leases', { path, query: { limit: kLeases } });
  const training = useGet(
    '/v1/jobs/{id}/training',
    { path },
    { every: live ? 1_000 : false, enabled: isTraining },
  );
  const files = useGet('/v1/jobs/{id}/files', { path, query: {} }, { enabled: job.batch !== undefined });
  const items = useMemo(() => leases.data?.items ?? [], [leases.data]);
  const names = useMachineNames(items.map((l) => l.machine));
  const machines = useMemo(
    () => new Map(items.map((l) => [l.id, names.get(l.machine) ?? `${l.machine} of ${l.lender}`])),
    [items, names],
  );
  const units = useMemo(
    () => new Map((training.data?.by_worker ?? []).map((w) => [w.worker, w.units])),
    [training.data],
  );
  const machineOf = useCallback((lease: string) => machines.get(lease) ?? lease, [machines]);
  const left = files.data?.items ?? kNoFiles;
  const gone = files.data?.gone ?? kNothing;
  // What it printed is what explains a failure: then it comes first.
  const failed = job.state === 'failed';
  const logs = job.batch && items.length > 0 && (
    <Logs leases={items} machineOf={machineOf} ended={job.ended} />
  );
  // All at once, so that nothing jumps.
  const asked = [leases, ...(isTraining ? [training] : []), ...(job.batch ? [files] : [])];
  const ready = asked.every((query) => query.data !== undefined || query.error !== null);
  return (
    <Page
      title={job.name || `Job ${job.id}`}
      about={<About job={job} />}
      actions={
        <>
          <DownloadModel job={job.id} files={left} />
          <Actions job={job} />
        </>
      }
    >
      {job.planned_why && live && (
        <Text size="sm">{`Planned for now: ${job.planned} of ${job.workers.max} workers. ${job.planned_why}.`}</Text>
      )}
      {(job.moves ?? []).map((m) => (
        <Text size="sm" key={m.at}>
          Moved from class {m.from} to {m.to} <When at={m.at} />: {m.why}.
        </Text>
      ))}
      {ready ? (
        <>
          {failed && logs}
          {!isSweep && wantsMore(job) && job.held === 0 && <Why job={job} />}
          {isSweep && <SweepPanel id={job.id} live={live} />}
          {isTraining && (
            <Loaded query={training} height={420}>
              {(t) => <TrainingPanel training={t} job={job} />}
            </Loaded>
          )}
          {!isSweep && (
            <Loaded query={leases} height={180}>
              {() => <Timeline leases={items} names={names} units={units} ended={job.ended} />}
            </Loaded>
          )}
          {!isSweep && wantsMore(job) && job.held > 0 && <Why job={job} />}
          {!isTraining && !isSweep && job.batch && <Workers job={job} leases={items} machineOf={machineOf} />}
          <SimpleGrid cols={{ base: 1, lg: 2 }}>
            <Spending job={job} leases={items} progress={training.data?.progress ?? 1} />
            {isTraining ? (
              <Loaded query={training} height={240}>
                {(t) => <Stalls training={t} machineOf={machineOf} />}
              </Loaded>
            ) : (
              job.batch && <Files job={job} files={left} gone={gone} />
            )}
          </SimpleGrid>
          {!failed && logs}
          {isTraining && (!live || left.length > 0) && <Files job={job} files={left} gone={gone} />}
        </>
      ) : (
        <Skeleton height={900} aria-label="loading" />
      )}
      <Panel title="Job file">
        <Text size="sm" mb="xs">
          The same job for <code>souk run</code>:
        </Text>
        <CopyLine text={yamlOfJob(job)} label="the job file" />
      </Panel>
    </Page>
  );
}

export default function JobPage({ id }: { id: string }) {
  const query = useGet('/v1/jobs/{id}', { path: { id } });
  if (query.data) return <Found job={query.data} />;
  return (
    <Page title={`Job ${id}`}>
      <Loaded query={query} height={600}>
        {() => null}
      </Loaded>
    </Page>
  );
}
