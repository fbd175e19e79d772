import { Button, Table } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Schemas } from '../../api/client';
import { credits, dateTime, percent } from '../../format';
import { WideTable } from '../../parts/wide-table';

const kAtATime = 24;

const price = (p: number | undefined) => (p === undefined ? '–' : credits(p));

// Newest first, some at a time: a long history has thousands of rows.
export function HistoryTable({ buckets, by }: { buckets: Schemas['PriceBucket'][]; by: string }) {
  const [shown, setShown] = useState(kAtATime);
  const rows = useMemo(() => [...buckets].reverse().slice(0, shown), [buckets, shown]);
  const at = (from: string) =>
    by === 'day' ? new Date(from).toLocaleDateString(undefined, { dateStyle: 'medium' }) : dateTime(from);
  return (
    <>
      <WideTable minWidth={640}>
        <Table verticalSpacing={4} aria-label="price history">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>From</Table.Th>
              {['Lowest', 'Lower quartile', 'Median', 'Upper quartile', 'Highest', 'Slots traded', 'Utilisation'].map(
                (title) => (
                  <Table.Th key={title} ta="right">
                    {title}
                  </Table.Th>
                ),
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ from, prices: p, utilisation }) => (
              <Table.Tr key={from}>
                <Table.Td>{at(from)}</Table.Td>
                <Table.Td ta="right">{price(p.low)}</Table.Td>
                <Table.Td ta="right">{price(p.quartile1)}</Table.Td>
                <Table.Td ta="right">{price(p.median)}</Table.Td>
                <Table.Td ta="right">{price(p.quartile3)}</Table.Td>
                <Table.Td ta="right">{price(p.high)}</Table.Td>
                <Table.Td ta="right">{p.volume.toLocaleString('en')}</Table.Td>
                <Table.Td ta="right">{utilisation === undefined ? '–' : percent(utilisation)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      {shown < buckets.length && (
        <Button size="xs" variant="default" onClick={() => setShown(shown + 4 * kAtATime)}>
          Show more ({(buckets.length - shown).toLocaleString('en')} left)
        </Button>
      )}
    </>
  );
}
