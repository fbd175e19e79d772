import { Badge, Group, Table, Text } from '@mantine/core';
import { count, percent } from '../../format';
import { Fact } from '../../parts/fact';
import { Panel } from '../../parts/panel';
import { WideTable } from '../../parts/wide-table';
import { type Lease, type Machine, tally } from './leases';

const kEffects = {
  broken: { color: 'red', text: 'loses a fifth' },
  kept: { color: 'teal', text: 'regains a fifth of the gap to 100%' },
  neither: { color: 'gray', text: 'no change' },
};

// Why the figure is what it is.
export function Reliability({ machine, leases, partial }: { machine: Machine; leases: Lease[]; partial: boolean }) {
  const rows = tally(leases);
  return (
    <Panel title="Reliability">
      <Group align="flex-start" gap="xl">
        <Fact label="Now" about={machine.leases === 0 ? 'no lease so far' : `from ${count(machine.leases, 'lease')}`}>
          {machine.leases === 0 ? 'new' : percent(machine.reliability, 1)}
        </Fact>
        <Text size="sm" c="dimmed" maw={620} flex={1} miw={240}>
          A machine is new until its first lease; jobs that ask for a minimum reliability count it as 90%. A lease
          that is lost or not started, or a wrong answer to a challenge, lowers it by a fifth; each lease that is kept
          closes a fifth of the gap to 100%. Giving work back with notice costs nothing. Jobs may ask for a minimum
          reliability, and of two offers at the same price the more reliable one comes first.
        </Text>
      </Group>
      {rows.length > 0 && (
        <WideTable minWidth={420} mt="sm">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>How leases ended{partial ? ' (recent ones)' : ''}</Table.Th>
                <Table.Th ta="right">Leases</Table.Th>
                <Table.Th>Effect of each</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((r) => (
                <Table.Tr key={`${r.outcome} ${r.effect}`}>
                  <Table.Td>{r.words}</Table.Td>
                  <Table.Td ta="right">{r.count}</Table.Td>
                  <Table.Td>
                    <Badge variant="light" tt="none" color={kEffects[r.effect].color}>
                      {kEffects[r.effect].text}
                    </Badge>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      )}
    </Panel>
  );
}
