import { Group, Table, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import type { Schemas } from '../../api/client';
import { exact, sharesOf } from './statement';
import { WideTable } from '../../parts/wide-table';

// Anybody can check that no credits appear or vanish.
export function SumCheck({ ledger, me }: { ledger: Schemas['Ledger']; me: string }) {
  const { shares, sum } = sharesOf(ledger.accounts ?? [], me);
  const fine = sum === 0 && ledger.sum === 0;
  return (
    <>
      <Group gap="xs" mb="sm" wrap="nowrap">
        <ThemeIcon color={fine ? 'teal' : 'red'} variant="light" radius="xl">
          {fine ? <IconCheck size={16} aria-hidden /> : <IconAlertTriangle size={16} aria-hidden />}
        </ThemeIcon>
        <Text size="sm">
          {fine
            ? 'All balances, including the source of new credits, add up to exactly 0. Your browser has checked the sum.'
            : `All balances, including the source of new credits, add up to ${sum}. They must add up to 0. Tell the operator.`}
        </Text>
      </Group>
      <WideTable minWidth={440}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Account</Table.Th>
              <Table.Th ta="right">Available</Table.Th>
              <Table.Th ta="right">Bonus</Table.Th>
              <Table.Th ta="right">Escrow</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shares.map((s) => (
              <Table.Tr key={s.name}>
                <Table.Td>{s.name}</Table.Td>
                <Table.Td ta="right">{exact(s.available)}</Table.Td>
                <Table.Td ta="right">{exact(s.bonus)}</Table.Td>
                <Table.Td ta="right">{exact(s.escrow)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </>
  );
}
