import { Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { count } from '../../format';
import { MeasureTable } from './measure-table';
import { estimateText, measured } from './measures';

// Mechanisms side by side: each metric's mean over the seeds with its 95% interval.
export function MetricsTable({ summary }: { summary: Schemas['Summary'] }) {
  const mechanisms = summary.mechanisms ?? [];
  return (
    <>
      <MeasureTable
        label="metrics of the mechanisms"
        measures={measured(mechanisms)}
        columns={mechanisms.map((m) => m.name)}
        about
        cell={(measure, i) => {
          const estimate = mechanisms[i]?.metrics?.[measure.field];
          return estimate && estimateText(measure, estimate);
        }}
      />
      <Text size="xs" c="dimmed" mt="xs">
        Means of {count(summary.seeds?.length ?? 0, 'seed')}, ± half the 95% interval. All mechanisms saw the same random draws.
        {summary.world === 'market' &&
          ' In a market world, the best possible is a bound that ignores when work arrives. No mechanism reaches it.'}
      </Text>
    </>
  );
}
