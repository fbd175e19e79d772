import { Group, Table, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import type { Schemas } from '../../api/client';
import { exact, sharesOf } from './statement';

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
            ? 'All balances and the mint sum to exactly 0, added up here in your browser too.'
            : `All balances and the mint sum to ${sum}, where they must sum to 0. Tell the operator.`}
        </Text>
      </Group>
      <Table.ScrollContainer minWidth={440}>
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
      </Table.ScrollContainer>
    </>
  );
}
