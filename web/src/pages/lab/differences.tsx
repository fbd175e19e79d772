import { Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { Schemas } from '../../api/client';
import { count } from '../../format';
import { Panel } from '../../parts/panel';
import { MeasureTable } from './measure-table';
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
      <MeasureTable
        label={`paired differences from ${first.a}`}
        measures={rows}
        columns={comparisons.map((c) => c.b)}
        cell={(measure, i) => {
          const found = comparisons[i]?.metrics?.find((d) => d.metric === measure.field);
          return found && <Cell measure={measure} difference={found.difference} significant={found.significant} />;
        }}
      />
      <Text size="xs" c="dimmed" mt="xs">
        {seeds > 1
          ? `* The 95% interval of the paired difference over ${count(seeds, 'seed')} does not contain 0. The rest may be chance.`
          : 'One seed has no interval: give more seeds to tell a difference from chance.'}
      </Text>
    </Panel>
  );
}
