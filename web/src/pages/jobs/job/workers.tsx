import { Table, Text } from '@mantine/core';
import type { Schemas } from '../../../api/client';
import { useGet } from '../../../api/queries';
import { bytes, count } from '../../../format';
import { Loaded } from '../../../parts/page';
import { Panel } from '../../../parts/panel';
import { StateBadge } from '../../../parts/state-badge';
import { currentUse, type CurrentUse } from './usage';

const kMost = 500;

function Row({ part, used }: { part: Schemas['Part']; used: CurrentUse | undefined }) {
  return (
    <Table.Tr>
      <Table.Td>{part.index}</Table.Td>
      <Table.Td>
        <StateBadge state={part.state} />
      </Table.Td>
      <Table.Td>
        {part.machine ?? '–'}
        {part.doing && (
          <Text size="xs" c="dimmed">
            {part.doing}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right">{used ? used.cores.toFixed(1) : '–'}</Table.Td>
      <Table.Td ta="right">{used ? `${bytes(used.memory)}, ${bytes(used.peak)} at most` : '–'}</Table.Td>
      <Table.Td ta="right">{used ? `${bytes(used.received)}, ${bytes(used.sent)}` : '–'}</Table.Td>
      <Table.Td ta="right">{part.tries}</Table.Td>
    </Table.Tr>
  );
}

// The numbered workers of a batch job: what each does, where, and what it uses.
export function Workers({ job }: { job: Schemas['Job'] }) {
  const live = !job.ended;
  const every = live ? 2_000 : false;
  const parts = useGet('/v1/jobs/{id}/parts', { path: { id: job.id }, query: { limit: kMost } }, { every });
  const usage = useGet('/v1/jobs/{id}/usage', { path: { id: job.id } }, { every });
  const byLease = new Map((usage.data?.items ?? []).map((u) => [u.lease, u]));
  return (
    <Panel title="Workers">
      <Loaded query={parts} height={120}>
        {(page) => (
          <>
            <Table.ScrollContainer minWidth={680} mah={420}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Worker</Table.Th>
                    <Table.Th>State</Table.Th>
                    <Table.Th>Machine</Table.Th>
                    <Table.Th ta="right">Cores in use</Table.Th>
                    <Table.Th ta="right">Memory</Table.Th>
                    <Table.Th ta="right">Fetched, sent</Table.Th>
                    <Table.Th ta="right">Tries lost</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {(page.items ?? []).map((part) => {
                    const series = part.lease ? byLease.get(part.lease) : undefined;
                    return <Row key={part.index} part={part} used={series && currentUse(series)} />;
                  })}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
            {page.next && (
              <Text size="xs" c="dimmed" mt="xs">
                {`The first ${count(kMost, 'worker')} of ${job.workers.max.toLocaleString('en')}.`}
              </Text>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}
