import { Progress, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { memo, useRef } from 'react';
import { Link } from 'wouter';
import { get, useGet } from '../../api/queries';
import { credits, percent } from '../../format';
import { useRowWindow } from '../../parts/row-window';
import { StateBadge } from '../../parts/state-badge';
import { When } from '../../parts/when';
import { hasEnded, type Job, partsDone, spentShare, workersText } from './list';
import classes from './table.module.css';
import { trains } from './kinds';

const kRow = 49; // px, as in table.module.css

function Bar({ share, text, label }: { share: number; text: string; label: string }) {
  return (
    <>
      <Text size="sm" className={classes.line}>
        {text}
      </Text>
      <Progress value={100 * share} size={4} aria-label={label} />
    </>
  );
}

// A training says itself how far it is; only those that run and are on the screen are asked.
function TrainingProgress({ job }: { job: Job }) {
  const path = { id: job.id };
  const live = job.state === 'running';
  const now = useGet('/v1/jobs/{id}/training', { path }, { every: 2_000, enabled: live });
  // What it came to never changes: news of other jobs are no reason to ask again.
  const then = useQuery({
    queryKey: ['training that ended', job.id],
    queryFn: ({ signal }) => get('/v1/jobs/{id}/training', { path }, signal),
    enabled: hasEnded(job),
    staleTime: Infinity,
  });
  const data = live ? now.data : then.data;
  if (!data || data.state === 'waiting' || data.epochs === 0)
    return (
      <Text size="sm" c="dimmed">
        –
      </Text>
    );
  const accuracy = data.accuracy === undefined ? '' : `, ${percent(data.accuracy, 1)} right`;
  return (
    <Bar
      share={job.state === 'succeeded' ? 1 : data.progress}
      text={`epoch ${data.epoch} of ${data.epochs}${accuracy}`}
      label={`progress of ${job.name || job.id}`}
    />
  );
}

function HowFar({ job }: { job: Job }) {
  if (trains(job.kind)) return <TrainingProgress job={job} />;
  const share = partsDone(job);
  if (share === undefined)
    return (
      <Text size="sm" c="dimmed">
        –
      </Text>
    );
  return (
    <Bar
      share={share}
      text={`${job.done} of ${job.workers.max} done`}
      label={`progress of ${job.name || job.id}`}
    />
  );
}

const Row = memo(function Row({ job, owners }: { job: Job; owners: boolean }) {
  return (
    <Table.Tr className={classes.row}>
      <Table.Td>
        <Link href={`/jobs/${job.id}`} className={classes.name}>
          {job.name || `job ${job.id}`}
        </Link>
        <Text size="xs" c="dimmed" className={classes.line}>
          {job.id}, {job.kind}
          {owners && `, ${job.owner}`}
        </Text>
      </Table.Td>
      <Table.Td>
        <StateBadge state={job.state} />
      </Table.Td>
      <Table.Td>
        <HowFar job={job} />
      </Table.Td>
      <Table.Td className={classes.line}>
        {workersText(job)} {job.class}
      </Table.Td>
      <Table.Td>
        <Bar
          share={spentShare(job)}
          text={`${credits(job.spent)} of ${credits(job.budget)}`}
          label={`spent of the cap of ${job.name || job.id}`}
        />
      </Table.Td>
      <Table.Td className={classes.line}>
        <When at={job.created} />
      </Table.Td>
    </Table.Tr>
  );
});

// Only the rows on the screen are drawn: a thousand jobs cost as much as twenty.
export function JobsTable({ jobs, owners }: { jobs: Job[]; owners: boolean }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const seen = useRowWindow(jobs.length, kRow, body);
  const space = (height: number) =>
    height > 0 && (
      <tr aria-hidden="true">
        <td colSpan={6} style={{ height, padding: 0, border: 0 }} />
      </tr>
    );
  return (
    <Table.ScrollContainer minWidth={820}>
      <Table className={classes.table} aria-rowcount={jobs.length}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="26%">Job</Table.Th>
            <Table.Th w={110}>State</Table.Th>
            <Table.Th>Progress</Table.Th>
            <Table.Th w={130}>Workers</Table.Th>
            <Table.Th w={150}>Spent of cap</Table.Th>
            <Table.Th w={130}>Submitted</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody ref={body}>
          {space(seen.before)}
          {jobs.slice(seen.from, seen.to).map((job) => (
            <Row key={job.id} job={job} owners={owners} />
          ))}
          {space(seen.after)}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
