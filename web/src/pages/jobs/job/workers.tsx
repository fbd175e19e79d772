import { Table, Text } from '@mantine/core';
import { memo, useMemo } from 'react';
import type { Schemas } from '../../../api/client';
import { useGet } from '../../../api/queries';
import { bytes, count } from '../../../format';
import { Loaded } from '../../../parts/page';
import { Panel } from '../../../parts/panel';
import { StateBadge } from '../../../parts/state-badge';
import { WideTable } from '../../../parts/wide-table';
import { currentUse, type CurrentUse, gpuText, latestOfParts } from './usage';

const kMost = 500;
const kTallest = 420; // px

type RowProps = {
  part: Schemas['WorkerStatus'];
  machine: string;
  used: CurrentUse | undefined;
  gpus: boolean; // Some worker has one.
};

// Drawn again only when something in it is new: there may be hundreds.
const Row = memo(function Row({ part, machine, used, gpus }: RowProps) {
  return (
    <Table.Tr>
      <Table.Td>{part.index}</Table.Td>
      <Table.Td>
        <StateBadge state={part.state} />
      </Table.Td>
      <Table.Td>
        {machine}
        {part.doing && (
          <Text size="xs" c="dimmed">
            {part.doing}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right">{used ? used.cores.toFixed(1) : '–'}</Table.Td>
      <Table.Td ta="right">{used ? `${bytes(used.memory)}, ${bytes(used.peak)} at most` : '–'}</Table.Td>
      {gpus && <Table.Td ta="right">{used ? gpuText(used) : '–'}</Table.Td>}
      <Table.Td ta="right">{used ? `${bytes(used.received)}, ${bytes(used.sent)}` : '–'}</Table.Td>
      <Table.Td ta="right">{part.tries}</Table.Td>
    </Table.Tr>
  );
});

type Props = { job: Schemas['Job']; leases: Schemas['Lease'][]; machineOf: (lease: string) => string };

// The numbered workers of a batch job: what each does, where, and what it uses.
export const Workers = memo(function Workers({ job, leases, machineOf }: Props) {
  const live = !job.ended;
  const every = live ? 2_000 : false;
  const parts = useGet('/v1/jobs/{id}/parts', { path: { id: job.id }, query: { limit: kMost } }, { every });
  const usage = useGet('/v1/jobs/{id}/usage', { path: { id: job.id } }, { every });
  const latest = useMemo(() => latestOfParts(leases), [leases]);
  const uses = useMemo(
    () => new Map((usage.data?.items ?? []).map((series) => [series.lease, currentUse(series)])),
    [usage.data],
  );
  const gpus = [...uses.values()].some((used) => used?.gpuMemory !== undefined);
  return (
    <Panel title="Workers">
      <Loaded query={parts} height={Math.min(kTallest, 48 + 42 * job.workers.max)}>
        {(page) => (
          <>
            <WideTable minWidth={680} mah={kTallest}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Worker</Table.Th>
                    <Table.Th>State</Table.Th>
                    <Table.Th>Machine</Table.Th>
                    <Table.Th ta="right">Cores in use</Table.Th>
                    <Table.Th ta="right">Memory</Table.Th>
                    {gpus && <Table.Th ta="right">GPUs in use</Table.Th>}
                    <Table.Th ta="right">Received, sent</Table.Th>
                    <Table.Th ta="right">Lost attempts</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {(page.items ?? []).map((part) => {
                    const lease = part.lease ?? latest.get(part.index)?.id;
                    const machine = part.machine ?? (lease ? machineOf(lease) : '–');
                    return (
                      <Row
                        key={part.index}
                        part={part}
                        machine={machine}
                        used={lease ? uses.get(lease) : undefined}
                        gpus={gpus}
                      />
                    );
                  })}
                </Table.Tbody>
              </Table>
            </WideTable>
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
});
