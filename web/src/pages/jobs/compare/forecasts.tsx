import { Anchor, SimpleGrid, Table, Text } from '@mantine/core';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { useGet } from '../../../api/queries';
import { count, credits, duration, percent } from '../../../format';
import { Chart } from '../../../parts/chart';
import { Empty } from '../../../parts/empty';
import { Loaded, Page } from '../../../parts/page';
import { Panel } from '../../../parts/panel';
import { WideTable } from '../../../parts/wide-table';
import { medianRatio, type Outcome, outcomes, scatter } from './quotes';

const kJobs = 500; // The latest.
const kRows = 200;

function Against({ title, points, format, median, lengths = false }: {
  title: string;
  lengths?: boolean;
  points: [number, number][];
  format: (n: number, step?: number) => string;
  median: number | undefined;
}) {
  const s = useMemo(() => scatter(points), [points]);
  return (
    <Panel title={title}>
      <Chart
        label={`${title}: forecast against actual`}
        x={s.x}
        xLabel="forecast"
        series={[
          { label: 'actual', values: s.actual, points: true },
          { label: 'actual equals forecast', values: s.equal, dash: true, guide: true, color: '#868e96' },
        ]}
        format={format}
        formatX={format}
        lengths={lengths}
        from0
        height={240}
      />
      <Text size="sm">
        {median === undefined ? '' : `Half of the jobs took more than ${percent(median)} of the forecast, half took less. A point above the line took more than forecast.`}
      </Text>
    </Panel>
  );
}

function Rows({ all }: { all: Outcome[] }) {
  return (
    <Panel title="Job by job">
      <WideTable minWidth={640}>
        <Table aria-label="Forecast against actual">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Job</Table.Th>
              <Table.Th ta="right">Forecast cost</Table.Th>
              <Table.Th ta="right">Actual cost</Table.Th>
              <Table.Th ta="right">Forecast time</Table.Th>
              <Table.Th ta="right">Actual time</Table.Th>
              <Table.Th>Cost was</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {all.slice(0, kRows).map(({ job, quoted, cost, time, verdict }) => (
              <Table.Tr key={job.id}>
                <Table.Td>
                  <Anchor component={Link} href={`/jobs/${job.id}`}>
                    {job.name ? `${job.name} (${job.id})` : job.id}
                  </Anchor>
                </Table.Td>
                <Table.Td ta="right">{credits(quoted.cost)}</Table.Td>
                <Table.Td ta="right">{credits(cost)}</Table.Td>
                <Table.Td ta="right">{duration(quoted.time)}</Table.Td>
                <Table.Td ta="right">{duration(time)}</Table.Td>
                <Table.Td>{verdict}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      {all.length > kRows && (
        <Text size="xs" c="dimmed">{`The latest ${kRows} of ${count(all.length, 'job')}.`}</Text>
      )}
    </Panel>
  );
}

function Found({ all }: { all: Outcome[] }) {
  const cost = useMemo(() => all.map((o): [number, number] => [o.quoted.cost, o.cost]), [all]);
  const time = useMemo(() => all.map((o): [number, number] => [o.quoted.time, o.time]), [all]);
  if (all.length === 0)
    return (
      <Empty title="No job to compare yet">
        A job is listed here when it has succeeded and its plan had a forecast.
      </Empty>
    );
  const median = (pick: (o: Outcome) => [number, number]) => medianRatio(all, pick);
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Against title="Cost" points={cost} format={credits} median={median((o) => [o.quoted.cost, o.cost])} />
        <Against
          title="Time"
          lengths
          points={time}
          format={(s) => duration(s)}
          median={median((o) => [o.quoted.time, o.time])}
        />
      </SimpleGrid>
      <Rows all={all} />
    </>
  );
}

// Forecast against actual, over all jobs.
export default function Forecasts() {
  const query = useGet('/v1/jobs', { query: { limit: kJobs } });
  const all = useMemo(() => outcomes(query.data?.items ?? []), [query.data]);
  return (
    <Page
      title="Forecast against actual"
      about="What the plans forecast, and what your jobs took and cost. Only jobs that succeeded are counted."
    >
      <Loaded query={query} height={600}>
        {() => <Found all={all} />}
      </Loaded>
    </Page>
  );
}
