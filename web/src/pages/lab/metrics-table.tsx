import { Table, Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { count } from '../../format';
import { estimateText, measured } from './measures';

// Mechanisms side by side: each metric's mean over the seeds with its 95% interval.
export function MetricsTable({ summary }: { summary: Schemas['Summary'] }) {
  const mechanisms = summary.mechanisms ?? [];
  return (
    <>
      <Table.ScrollContainer minWidth={150 + 140 * mechanisms.length}>
        <Table verticalSpacing={4} highlightOnHover aria-label="metrics of the mechanisms">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Metric</Table.Th>
              {mechanisms.map((m) => (
                <Table.Th key={m.name} ta="right">
                  {m.name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {measured(mechanisms).map((measure) => (
              <Table.Tr key={measure.field}>
                <Table.Th scope="row" fw={500} miw={130}>
                  {measure.title}{' '}
                  <Text span size="xs" c="dimmed" visibleFrom="xs">
                    {measure.about}
                  </Text>
                </Table.Th>
                {mechanisms.map((m) => {
                  const estimate = m.metrics?.[measure.field];
                  return (
                    <Table.Td key={m.name} ta="right" style={{ whiteSpace: 'nowrap' }}>
                      {estimate ? estimateText(measure, estimate) : '–'}
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="xs" c="dimmed" mt="xs">
        Means over {count(summary.seeds?.length ?? 0, 'seed')}, ± half the 95% interval. All mechanisms met the same
        draws.
        {summary.world === 'market' &&
          ' In a market the most there could be is a bound that ignores when work came: no rule reaches it.'}
      </Text>
    </>
  );
}
