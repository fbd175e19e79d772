import { Table, Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { credits, percent } from '../../format';
import { Empty } from '../../parts/empty';
import { WideTable } from '../../parts/wide-table';

const kColumns = ['Rounds', 'Traded in', 'Slots', 'Mean price', 'Borrowers pay', 'Lenders get', 'Platform', 'Gain'];

// The history itself first, then each mechanism in its place.
export function ReplayTable({ replay }: { replay: Schemas['Replayed'] }) {
  const rows = replay.items ?? [];
  if (!rows.some((r) => r.rounds > 0))
    return (
      <Empty title="No round in this time">
        Rounds in which something traded are replayed. Ask for more days, or for another class.
      </Empty>
    );
  return (
    <>
      <WideTable minWidth={820}>
        <Table verticalSpacing={6} aria-label="history under each mechanism">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Mechanism</Table.Th>
              {kColumns.map((title) => (
                <Table.Th key={title} ta="right">
                  {title}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((r) => (
              <Table.Tr key={r.mechanism}>
                <Table.Th scope="row" fw={600}>
                  {r.mechanism}
                </Table.Th>
                <Table.Td ta="right">{r.rounds.toLocaleString('en')}</Table.Td>
                <Table.Td ta="right">{r.traded_in.toLocaleString('en')}</Table.Td>
                <Table.Td ta="right">{r.slots.toLocaleString('en')}</Table.Td>
                <Table.Td ta="right">{credits(r.price)}</Table.Td>
                <Table.Td ta="right">{credits(r.paid)}</Table.Td>
                <Table.Td ta="right">{credits(r.got)}</Table.Td>
                <Table.Td ta="right">{credits(r.paid - r.got)}</Table.Td>
                <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
                  {credits(r.gain_low)} to {credits(r.gain_high)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      <Text size="xs" c="dimmed" mt="xs">
        Payments and gains are for an hour of every slot granted. The gain is a range: the lower end takes the logged
        prices as true values, the upper end assumes that everybody hid {percent(replay.shading)} of their value. Under
        another mechanism people might have bid differently.
      </Text>
    </>
  );
}
