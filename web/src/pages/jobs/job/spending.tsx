import { Group, Progress, Stack, Table, Text } from '@mantine/core';
import { memo, useMemo } from 'react';
import type { Schemas } from '../../../api/client';
import { credits, duration, percent, seconds } from '../../../format';
import { Chart } from '../../../parts/chart';
import { Fact } from '../../../parts/fact';
import { Panel } from '../../../parts/panel';
import { spentShare } from '../list';
import { type Comparison, compare, rateOf, spendingOf } from './money';
import classes from './spending.module.css';
import { useNow } from './use-now';

type Job = Schemas['Job'];

function Curve({ job, leases }: { job: Job; leases: Schemas['Lease'][] }) {
  const until = job.ended ? Date.parse(job.ended) : 0;
  const spent = useMemo(() => spendingOf(leases, until), [leases, until]);
  const series = useMemo(
    () => [
      { label: 'spent', values: spent.y },
      { label: 'cap', values: spent.x.map(() => job.budget), dash: true, color: '#c2255c' },
    ],
    [spent, job.budget],
  );
  if (spent.x.length < 2) return null;
  return (
    <Chart
      label="credits spent over time"
      time
      x={spent.x}
      series={series}
      height={160}
      from0
      format={credits}
    />
  );
}

const shown = (c: Comparison, n: number) => (c.what === 'time' ? duration(n) : credits(n));

function Forecast({ rows }: { rows: Comparison[] }) {
  return (
    <Table.ScrollContainer minWidth={380}>
      <Table aria-label="Forecast and outcome" className={classes.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Forecast</Table.Th>
            <Table.Th>expected</Table.Th>
            <Table.Th>8 of 10 runs</Table.Th>
            <Table.Th>actual</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((c) => (
            <Table.Tr key={c.what}>
              <Table.Th scope="row">{c.what === 'time' ? 'time' : 'credits'}</Table.Th>
              <Table.Td>{shown(c, c.forecast)}</Table.Td>
              <Table.Td>{`${shown(c, c.low)} to ${shown(c, c.high)}`}</Table.Td>
              <Table.Td className={classes.verdict}>
                {shown(c, c.actual)}
                <Text size="xs" c="dimmed">
                  {c.verdict}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

type Props = { job: Job; leases: Schemas['Lease'][]; progress: number };

// What it has cost of what it may cost, and what was foretold.
export const Spending = memo(function Spending({ job, leases, progress }: Props) {
  const now = useNow(!job.ended && job.forecast !== undefined);
  const comparison = compare(job, progress, now);
  const rate = rateOf(job);
  const share = spentShare(job);
  return (
    <Panel title="Spending">
      <Stack gap="sm">
        <Group gap="xl" align="flex-start">
          <Fact label="Spent" about={`${percent(share)} of the cap`}>
            {credits(job.spent)}
          </Fact>
          <Fact label="Cap" about={job.ended ? '' : `${credits(job.escrow)} set aside`}>
            {credits(job.budget)}
          </Fact>
          <Fact label="Limit price" about="per slot-hour">
            {credits(job.limit)}
          </Fact>
          {!job.ended && (
            <Fact
              label="Rate now"
              about={job.runway ? `the rest lasts for ${duration(seconds(job.runway))}` : ''}
            >
              {`${credits(rate)} an hour`}
            </Fact>
          )}
        </Group>
        <Progress value={100 * share} color={job.low ? 'red' : 'souk'} aria-label="spent of the cap" />
        {job.low && !job.ended && (
          <Text size="sm" role="status">
            The cap is nearly used up. Workers leave when it is, and a larger one lets the job go on.
          </Text>
        )}
        <Curve job={job} leases={leases} />
        {comparison.length > 0 && <Forecast rows={comparison} />}
      </Stack>
    </Panel>
  );
});
