import { Anchor, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useMemo } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../../api/client';
import { useGet } from '../../../api/queries';
import { count, credits } from '../../../format';
import { Fact } from '../../../parts/fact';
import { Loaded } from '../../../parts/page';
import { Panel } from '../../../parts/panel';
import { StateBadge } from '../../../parts/state-badge';
import { WideTable } from '../../../parts/wide-table';
import { kMostRuns } from '../compare/settings';
import { bestFirst, parallel, plain } from './parallel';
import { Picture } from './picture';

type Status = Schemas['SweepStatus'];

const kOver = new Set<Schemas['TrialState']>(['stopped', 'succeeded', 'failed', 'cancelled']);
const figure = (value: number | undefined) => (value === undefined ? '–' : String(Number(value.toPrecision(5))));

function Facts({ status }: { status: Status }) {
  const { sweep, trials = [], best, free, spent } = status;
  const over = trials.filter((t) => kOver.has(t.state)).length;
  const early = trials.filter((t) => t.state === 'stopped').length;
  const first = trials.find((t) => t.number === best);
  return (
    <Group gap="xl" align="flex-start">
      <Fact label="Trials" about={early > 0 ? `${early} stopped early` : ''}>{`${over} of ${sweep.trials} ended`}</Fact>
      <Fact label={`Best ${sweep.metric}`} about={first ? `trial ${first.number}` : ''}>
        {figure(first?.value)}
      </Fact>
      <Fact label="Spent by all">{credits(spent)}</Fact>
      <Fact label="Free for more trials">{credits(free)}</Fact>
      <Fact label="Method">{sweep.method}</Fact>
    </Group>
  );
}

function Trials({ status }: { status: Status }) {
  const names = Object.keys(status.sweep.parameters ?? {});
  const rows = useMemo(() => bestFirst(status), [status]);
  return (
    <WideTable minWidth={420 + 90 * names.length} mah={420} aria-label="Trials">
      <Table aria-label="Trials">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Trial</Table.Th>
            <Table.Th>State</Table.Th>
            {names.map((name) => (
              <Table.Th key={name} ta="right">
                {name}
              </Table.Th>
            ))}
            <Table.Th ta="right">Epoch</Table.Th>
            <Table.Th ta="right">{status.sweep.metric}</Table.Th>
            <Table.Th ta="right">Spent</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((t) => (
            <Table.Tr key={t.number}>
              <Table.Td fw={t.number === status.best ? 700 : undefined}>
                <Anchor component={Link} href={`/jobs/${t.job}`} size="sm">{`${t.number} (${t.job})`}</Anchor>
              </Table.Td>
              <Table.Td>
                <StateBadge state={t.state} />
              </Table.Td>
              {names.map((name) => (
                <Table.Td key={name} ta="right">
                  {plain(t.parameters?.[name] ?? '')}
                </Table.Td>
              ))}
              <Table.Td ta="right">{t.epoch}</Table.Td>
              <Table.Td ta="right">{figure(t.value)}</Table.Td>
              <Table.Td ta="right">{credits(t.spent)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

function Shown({ status }: { status: Status }) {
  const { axes, lines } = useMemo(() => parallel(status), [status]);
  const best = bestFirst(status).slice(0, kMostRuns);
  return (
    <Panel
      title="Trials"
      actions={
        best.length > 1 && (
          <Button
            component={Link}
            href={`/jobs/compare?jobs=${best.map((t) => t.job).join(',')}`}
            size="xs"
            variant="default"
          >
            {`Compare the best ${count(best.length, 'trial')}`}
          </Button>
        )
      }
    >
      <Stack>
        <Facts status={status} />
        {lines.length > 0 ? (
          <Picture axes={axes} lines={lines} metric={status.sweep.metric} />
        ) : (
          <Text size="sm" c="dimmed">
            A picture appears when a trial has reported its {status.sweep.metric}.
          </Text>
        )}
        {(status.trials ?? []).length > 0 && <Trials status={status} />}
      </Stack>
    </Panel>
  );
}

// The trials of a sweep: what they tried and what came of it.
export function SweepPanel({ id, live }: { id: string; live: boolean }) {
  const query = useGet('/v1/jobs/{id}/sweep', { path: { id } }, { every: live ? 2_000 : false });
  return (
    <Loaded query={query} height={420}>
      {(status) => <Shown status={status} />}
    </Loaded>
  );
}
