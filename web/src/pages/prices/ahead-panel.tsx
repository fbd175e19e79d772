import { Table, Text } from '@mantine/core';
import { useMemo } from 'react';
import type { Schemas } from '../../api/client';
import { credits, timeZone } from '../../format';
import { Chart } from '../../parts/chart';
import { Panel } from '../../parts/panel';
import { WideTable } from '../../parts/wide-table';
import { extremes, slotTime, timeSlots } from './history';

function against(price: number, now: number): string {
  if (now === 0 || price === now) return 'as now';
  const change = Math.round((100 * (price - now)) / now);
  if (change === 0) return 'as now';
  return `${Math.abs(change)}% ${change < 0 ? 'less' : 'more'}`;
}

// Suggested prices of the next 24 hours.
export function AheadPanel({ prices }: { prices: Schemas['Prices'] }) {
  const ahead = useMemo(() => prices.ahead ?? [], [prices.ahead]);
  const slots = useMemo(() => timeSlots(ahead), [ahead]);
  const ends = extremes(slots);
  // The last hour ends too.
  const hours = useMemo(() => [...ahead, ...ahead.slice(-1)], [ahead]);
  const x = useMemo(
    () => hours.map((s, i) => Date.parse(s.from) / 1000 + (i === ahead.length ? 3_600 : 0)),
    [hours, ahead],
  );
  const series = useMemo(
    () => [{ label: 'suggested price', values: hours.map((s) => s.price), steps: true }],
    [hours],
  );
  return (
    <Panel title="The next 24 hours">
      <Text size="sm" mb="xs">
        {ends && ends.low.price < ends.high.price
          ? `Cheapest ${slotTime(ends.low)} at ${credits(ends.low.price)}, ` +
            `highest ${slotTime(ends.high)} at ${credits(ends.high.price)}.`
          : 'The suggested price is the same all day. It follows the hour of the day once there is some history.'}
      </Text>
      <Chart
        label="Suggested prices of the next 24 hours, credits per slot-hour"
        time
        x={x}
        series={series}
        format={credits}
        from0
        height={180}
      />
      <WideTable minWidth={260} mah={260} aria-label="suggested prices by time slot">
        <Table verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Time slot ({timeZone})</Table.Th>
              <Table.Th ta="right">Suggested</Table.Th>
              <Table.Th ta="right">Compared with now</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {slots.map((slot) => (
              <Table.Tr key={slot.from}>
                <Table.Td>{slotTime(slot)}</Table.Td>
                <Table.Td ta="right">{credits(slot.price)}</Table.Td>
                <Table.Td ta="right">{against(slot.price, prices.suggested)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </Panel>
  );
}
