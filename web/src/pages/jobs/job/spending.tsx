import { Group, Progress, Stack, Table, Text } from '@mantine/core';
import { memo, useMemo } from 'react';
import type { Schemas } from '../../../api/client';
import { credits, creditsInSum, duration, percent, seconds } from '../../../format';
import { Chart } from '../../../parts/chart';
import { Fact } from '../../../parts/fact';
import { Money } from '../../../parts/money';
import { Panel } from '../../../parts/panel';
import { WideTable } from '../../../parts/wide-table';
import { spentShare } from '../list';
import { type Comparison, compare, rangeWords, rateOf, restsOn, showsCap, spendingOf } from './money';
import classes from './spending.module.css';
import { useNow } from './use-now';

type Job = Schemas['Job'];

function Curve({ job, leases }: { job: Job; leases: Schemas['Lease'][] }) {
  const until = job.ended ? Date.parse(job.ended) : 0;
  const spent = useMemo(() => spendingOf(leases, until), [leases, until]);
  const withCap = showsCap(job);
  const series = useMemo(
    () => [
      { label: 'spent', values: spent.y },
      ...(withCap
        ? [{ label: 'cap', values: spent.x.map(() => job.budget), dash: true, color: '#c2255c' }]
        : []),
    ],
    [spent, job.budget, withCap],
  );
  if (spent.x.length < 2) return null;
  return (
    <div>
      <Chart
        label="credits spent over time"
        time
        x={spent.x}
        series={series}
        height={160}
        from0
        format={credits}
      />
      {!withCap && (
        <Text size="xs" c="dimmed">
          {`The cap (${credits(job.budget)}) is off the chart: ${percent(spentShare(job))} of it is spent.`}
        </Text>
      )}
    </div>
  );
}

const shown = (c: Comparison, n: number) => (c.what === 'time' ? duration(n) : credits(n));

type QuoteProps = { rows: Comparison[]; quoted: Schemas['JobQuote']; progress: number };

function Quote({ rows, quoted, progress }: QuoteProps) {
  return (
    <>
      <WideTable minWidth={380}>
        <Table aria-label="Quoted and actual" className={classes.table}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Quoted</Table.Th>
              <Table.Th>expected</Table.Th>
              <Table.Th>{rangeWords(quoted)}</Table.Th>
              <Table.Th>actual</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((c) => (
              <Table.Tr key={c.what}>
                <Table.Th scope="row">{c.what === 'time' ? 'time' : 'credits'}</Table.Th>
                <Table.Td>{shown(c, c.quoted)}</Table.Td>
                <Table.Td>{`${shown(c, c.low)} to ${shown(c, c.high)}`}</Table.Td>
                <Table.Td className={classes.verdict}>
                  {c.what === 'cost' ? <Money amount={c.actual} /> : shown(c, c.actual)}
                  <Text size="xs" c="dimmed">
                    {c.verdict}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      <Text size="xs" c="dimmed">
        {`Quoted when it was submitted, ${restsOn(quoted)}.`}
        {rows[0]?.verdict === 'less than quoted' && progress > 0 && progress < 1
          ? ` It did ${percent(progress)} of the epochs.`
          : ''}
      </Text>
    </>
  );
}

type Props = { job: Job; leases: Schemas['Lease'][]; progress: number };

// What it has cost of what it may cost, and what was quoted.
export const Spending = memo(function Spending({ job, leases, progress }: Props) {
  const now = useNow(!job.ended && job.quoted !== undefined);
  const comparison = compare(job, now);
  const accrued = job.accrued ?? 0;
  const [spent, owed, escrow] = creditsInSum([job.spent, accrued, job.escrow - accrued]);
  const rate = rateOf(job);
  const share = spentShare(job);
  return (
    <Panel title="Spending">
      <Stack gap="sm">
        <Group gap="xl" align="flex-start">
          <Fact label="Spent" about={`${percent(share)} of the cap`}>
            <Money amount={job.spent} shown={spent} />
          </Fact>
          {accrued > 0 && (
            <Fact label="Accrued" about="earned by workers, not settled yet">
              <Money amount={accrued} shown={owed} />
            </Fact>
          )}
          <Fact label="Cap" about={job.ended ? '' : `${escrow} more is set aside`}>
            <Money amount={job.budget} />
          </Fact>
          <Fact label="Limit price" about="per slot-hour">
            <Money amount={job.limit} />
          </Fact>
          {!job.ended && (
            <Fact
              label="Cost per hour now"
              about={job.runway ? `the remaining credits last ${duration(seconds(job.runway))}` : ''}
            >
              {`${credits(rate)} an hour`}
            </Fact>
          )}
        </Group>
        <Progress value={100 * share} color={job.low ? 'red' : 'souk'} aria-label="spent of the cap" />
        {job.low && !job.ended && (
          <Text size="sm" role="status">
            The cap is nearly used up. Workers stop when it is reached. Raise the cap to let the job continue.
          </Text>
        )}
        <Curve job={job} leases={leases} />
        {job.quoted && comparison.length > 0 && (
          <Quote rows={comparison} quoted={job.quoted} progress={progress} />
        )}
        {job.estimate && (
          <Text size="sm">
            {`The whole job is expected to take ${duration(seconds(job.estimate.time))} (${duration(seconds(job.estimate.time_low))} to ${duration(seconds(job.estimate.time_high))}) and ${credits(job.estimate.cost)} credits (${credits(job.estimate.cost_low)} to ${credits(job.estimate.cost_high)}), ${restsOn(job.estimate)}.`}
          </Text>
        )}
      </Stack>
    </Panel>
  );
});
