import { Table, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { Schemas } from '../../api/client';
import { count } from '../../format';
import { Panel } from '../../parts/panel';
import { differenceText, type Estimate, measured, type Measure } from './measures';

type Comparison = Schemas['Comparison'];

function Cell({ measure, difference, significant }: { measure: Measure; difference: Estimate; significant: boolean }) {
  const text = differenceText(measure, difference);
  if (!significant)
    return (
      <Text span size="sm" c="dimmed">
        {text}
      </Text>
    );
  const Icon = difference.mean > 0 ? IconArrowUp : IconArrowDown;
  return (
    <Text span size="sm" fw={650}>
      <Icon size={14} aria-hidden style={{ verticalAlign: -2 }} /> {text} *
    </Text>
  );
}

// The first mechanism against each of the others, seed by seed.
export function Differences({ comparisons, seeds }: { comparisons: Comparison[]; seeds: number }) {
  const [first] = comparisons;
  if (!first) return null;
  const rows = measured(
    comparisons.map((c) => ({ metrics: Object.fromEntries((c.metrics ?? []).map((d) => [d.metric, d])) })),
  );
  return (
    <Panel title={`Differences from ${first.a}`}>
      <Table.ScrollContainer minWidth={180 + 170 * comparisons.length}>
        <Table verticalSpacing={4} highlightOnHover aria-label={`paired differences from ${first.a}`}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Metric</Table.Th>
              {comparisons.map((c) => (
                <Table.Th key={c.b} ta="right">
                  {c.b}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((measure) => (
              <Table.Tr key={measure.field}>
                <Table.Th scope="row" fw={500} miw={130}>
                  {measure.title}
                </Table.Th>
                {comparisons.map((c) => {
                  const found = c.metrics?.find((d) => d.metric === measure.field);
                  return (
                    <Table.Td key={c.b} ta="right" style={{ whiteSpace: 'nowrap' }}>
                      {found ? <Cell measure={measure} difference={found.difference} significant={found.significant} /> : '–'}
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="xs" c="dimmed" mt="xs">
        {seeds > 1
          ? `* The 95% interval of the paired difference over ${count(seeds, 'seed')} does not contain 0. The rest may be chance.`
          : 'One seed has no interval: give more seeds to tell a difference from chance.'}
      </Text>
    </Panel>
  );
}
