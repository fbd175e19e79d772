import { SimpleGrid, Table, Text } from '@mantine/core';
import { useMemo } from 'react';
import { count, credits } from '../../format';
import { Chart, type Series } from '../../parts/chart';
import { Empty } from '../../parts/empty';
import { Panel } from '../../parts/panel';
import { type Book, type Crossing, crossing, depth, type Level, slotsOf } from './book';

const kSupply = '#1098ad';
const kDemand = '#e8590c';
const kRows = 8;

function said({ asks, bids }: Book, cross: Crossing | undefined): string {
  const free = count(slotsOf(asks), 'slot');
  const wanted = count(slotsOf(bids), 'slot');
  if (cross) {
    const to = cross.low < cross.high ? ` to ${credits(cross.high)}` : '';
    return (
      `${count(cross.slots, 'slot')} could trade by price, at ${credits(cross.low)}${to}. The next round decides; ` +
      'other needs, hours, and workers that must start together may prevent it.'
    );
  }
  const [ask] = asks;
  const [bid] = bids;
  if (ask && bid)
    return (
      `${free} free from ${credits(ask.price)} up, ${wanted} wanted at ${credits(bid.price)} or less. ` +
      'No price suits both.'
    );
  return ask ? `${free} free, none wanted.` : `${wanted} wanted, none free.`;
}

// The curves, with the crossing as a mark on them.
function curves(book: Book, cross: Crossing | undefined): { x: number[]; series: Series[] } {
  const d = depth(book.asks, book.bids);
  const series: Series[] = [
    { label: 'offered', values: d.supply, color: kSupply, steps: true },
    { label: 'wanted', values: d.demand, color: kDemand, steps: true },
  ];
  if (cross)
    series.push({
      label: 'crossing',
      values: d.x.map((x) => (x === cross.slots ? (cross.low + cross.high) / 2 : null)),
      color: '#7048e8',
      points: true,
    });
  return { x: d.x, series };
}

function Levels({ title, levels }: { title: string; levels: Level[] }) {
  const more = levels.slice(kRows);
  return (
    <Table verticalSpacing={2} fz="sm" aria-label={title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{title}</Table.Th>
          <Table.Th ta="right">Slots</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {levels.slice(0, kRows).map(({ price, slots, market }) => (
          <Table.Tr key={market ? 'market' : price}>
            <Table.Td>{market ? 'market (any price)' : credits(price)}</Table.Td>
            <Table.Td ta="right">{slots.toLocaleString('en')}</Table.Td>
          </Table.Tr>
        ))}
        {more.length > 0 && (
          <Table.Tr>
            <Table.Td c="dimmed">{`${count(more.length, 'price')} more`}</Table.Td>
            <Table.Td ta="right">{slotsOf(more).toLocaleString('en')}</Table.Td>
          </Table.Tr>
        )}
      </Table.Tbody>
    </Table>
  );
}

// What is offered and wanted at this moment.
export function BookPanel({ book }: { book: Book }) {
  const cross = useMemo(() => crossing(book.asks, book.bids), [book]);
  const { x, series } = useMemo(() => curves(book, cross), [book, cross]);
  return (
    <Panel title="Offers and bids now" mih={480}>
      {x.length === 0 ? (
        <Empty title="No offers and no bids">Nobody offers slots of this class now, and no job waits for one.</Empty>
      ) : (
        <>
          <Text size="sm" mb="xs" mih={42} aria-live="polite">
            {said(book, cross)}
          </Text>
          <Chart
            label="Slots offered and wanted by price"
            x={x}
            series={series}
            format={credits}
            xLabel="slots"
            whole
            from0
            height={230}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'start' }}>
            <Levels title="Offered at" levels={book.asks} />
            <Levels title="Wanted at" levels={book.bids} />
          </SimpleGrid>
        </>
      )}
    </Panel>
  );
}
