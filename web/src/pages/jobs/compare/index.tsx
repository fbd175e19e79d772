import { Alert, Anchor, Group, NativeSelect, SegmentedControl, SimpleGrid, Table, Text } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useSearch } from 'wouter';
import { get, type Schemas } from '../../../api/client';
import { credits, decimals, duration, percent, seconds } from '../../../format';
import { Chart } from '../../../parts/chart';
import { Empty } from '../../../parts/empty';
import { Loaded, Page } from '../../../parts/page';
import { Panel } from '../../../parts/panel';
import { StateBadge } from '../../../parts/state-badge';
import { WideTable } from '../../../parts/wide-table';
import { trains } from '../kinds';
import { capital } from '../job/figures';
import { type By, costPerPoint, differences, kMostRuns, measured, together } from './settings';

type Pair = { job: Schemas['Job']; training: Schemas['Training'] | undefined };

// Three digits that count, however small.
const smallCredits = (n: number) => n.toLocaleString('en', { maximumSignificantDigits: 3 });
const nameOf = (job: Schemas['Job']) => (job.name ? `${job.name} (${job.id})` : job.id);

function useRuns(ids: string[]) {
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: ['/v1/jobs/{id}', { path: { id } }, 'with its training'],
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Pair> => {
        const job = await get('/v1/jobs/{id}', { path: { id } }, signal);
        const training = trains(job.kind) ? await get('/v1/jobs/{id}/training', { path: { id } }, signal) : undefined;
        return { job, training };
      },
    })),
    combine: (all) => ({
      data: all.every((q) => q.data) ? all.map((q) => q.data as Pair) : undefined,
      error: all.find((q) => q.error)?.error ?? null,
      refetch: async () => Promise.all(all.map((q) => q.refetch())),
    }),
  });
}

function Curves({ pairs }: { pairs: Pair[] }) {
  const [by, setBy] = useState<By>('epoch');
  const runs = useMemo(
    () =>
      pairs.flatMap(({ job, training }) =>
        training?.rows?.length ? [{ label: nameOf(job), rows: training.rows }] : [],
      ),
    [pairs],
  );
  const names = useMemo(() => measured(pairs.flatMap(({ training }) => (training ? [training] : []))), [pairs]);
  const [wanted, setWanted] = useState('');
  const metric = names.includes(wanted) ? wanted : (names[0] ?? 'accuracy');
  const chosen = useMemo(
    () => together(runs, by, (r) => (metric === 'accuracy' ? r.accuracy : r.metrics?.[metric])),
    [runs, by, metric],
  );
  const loss = useMemo(() => together(runs, by, (r) => r.validation_loss), [runs, by]);
  if (runs.length === 0)
    return (
      <Panel title="Curves">
        <Empty title="No curves yet">Curves appear when a training has finished its first epoch.</Empty>
      </Panel>
    );
  const axis = { xLabel: by === 'epoch' ? 'epoch' : 'minutes since its start', whole: by === 'epoch', height: 260 };
  return (
    <Panel
      title="Curves"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="compare by"
          value={by}
          onChange={(value) => setBy(value as By)}
          data={[
            { value: 'epoch', label: 'By epoch' },
            { value: 'minute', label: 'By time' },
          ]}
        />
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <div>
          <Group gap="xs" mih={30}>
            <Text fw={600} size="sm">
              {capital(metric)}
            </Text>
            {names.length > 1 && (
              <NativeSelect
                size="xs"
                aria-label="metric"
                value={metric}
                onChange={(e) => setWanted(e.currentTarget.value)}
                data={names}
              />
            )}
          </Group>
          <Chart
            label={`${metric} of each run`}
            {...axis}
            {...chosen}
            {...(metric === 'accuracy'
              ? { format: (y: number, step = 0.0001) => percent(y, decimals(100 * step)) }
              : {})}
          />
        </div>
        <div>
          <Group gap="xs" mih={30}>
            <Text fw={600} size="sm">
              Validation loss
            </Text>
          </Group>
          <Chart label="validation loss of each run" {...axis} {...loss} from0 />
        </div>
      </SimpleGrid>
    </Panel>
  );
}

function Outcomes({ pairs }: { pairs: Pair[] }) {
  return (
    <Panel title="Results of the runs">
      <WideTable minWidth={700}>
        <Table aria-label="Results of the runs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Run</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th ta="right">Accuracy</Table.Th>
              <Table.Th ta="right">Spent</Table.Th>
              <Table.Th ta="right">Credits per point of accuracy</Table.Th>
              <Table.Th ta="right">Time</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {pairs.map(({ job, training }) => {
              const point = costPerPoint(job.spent, training?.accuracy);
              return (
                <Table.Tr key={job.id}>
                  <Table.Td>
                    <Anchor component={Link} href={`/jobs/${job.id}`}>
                      {nameOf(job)}
                    </Anchor>
                  </Table.Td>
                  <Table.Td>
                    <StateBadge state={job.state} />
                  </Table.Td>
                  <Table.Td ta="right">
                    {training?.accuracy === undefined ? '–' : percent(training.accuracy, 2)}
                  </Table.Td>
                  <Table.Td ta="right">{credits(job.spent)}</Table.Td>
                  <Table.Td ta="right">{point === undefined ? '–' : smallCredits(point)}</Table.Td>
                  <Table.Td ta="right">{training ? duration(seconds(training.elapsed)) : '–'}</Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </WideTable>
      <Text size="xs" c="dimmed" mt="xs">
        Credits per point: what was spent, divided by the accuracy in percent.
      </Text>
    </Panel>
  );
}

function Settings({ pairs }: { pairs: Pair[] }) {
  const rows = useMemo(() => differences(pairs.map((p) => p.job)), [pairs]);
  return (
    <Panel title="Settings that differ">
      {rows.length === 0 ? (
        <Text size="sm">These runs have the same settings.</Text>
      ) : (
        <WideTable minWidth={160 + 140 * pairs.length}>
          <Table aria-label="Settings that differ">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Setting</Table.Th>
                {pairs.map(({ job }) => (
                  <Table.Th key={job.id}>{nameOf(job)}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(({ key, values }) => (
                <Table.Tr key={key}>
                  <Table.Td>
                    <code>{key}</code>
                  </Table.Td>
                  {values.map((value, i) => (
                    <Table.Td key={pairs[i]?.job.id}>{value ?? '–'}</Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      )}
    </Panel>
  );
}

// Several runs side by side: /jobs/compare?jobs=j1,j2.
export default function Compare() {
  const asked = (new URLSearchParams(useSearch()).get('jobs') ?? '').split(',').filter(Boolean);
  const ids = [...new Set(asked)].slice(0, kMostRuns);
  const query = useRuns(ids);
  return (
    <Page
      title="Compare runs"
      about={
        <>
          Choose other runs in the{' '}
          <Anchor component={Link} href="/jobs?compare=yes" size="sm">
            list of jobs
          </Anchor>
          .
        </>
      }
    >
      {asked.length > kMostRuns && (
        <Alert color="yellow">{`Only the first ${kMostRuns} of ${asked.length} runs are shown.`}</Alert>
      )}
      {ids.length < 2 ? (
        <Empty title="Choose two runs or more">Tick runs in the list of jobs, then press Compare.</Empty>
      ) : (
        <Loaded query={query} height={600}>
          {(pairs) => (
            <>
              <Outcomes pairs={pairs} />
              <Curves pairs={pairs} />
              <Settings pairs={pairs} />
            </>
          )}
        </Loaded>
      )}
    </Page>
  );
}
