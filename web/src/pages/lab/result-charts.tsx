import { Select, SimpleGrid } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Schemas } from '../../api/client';
import { Chart } from '../../parts/chart';
import { Panel } from '../../parts/panel';
import { IntervalPlot } from './interval-plot';
import { estimateText, measured, measureOf, shortTime } from './measures';

type Summary = Schemas['Summary'];

function OneMetric({ summary }: { summary: Summary }) {
  const mechanisms = useMemo(() => summary.mechanisms ?? [], [summary]);
  const known = useMemo(() => measured(mechanisms), [mechanisms]);
  const [field, setField] = useState(known[0]?.field ?? 'efficiency');
  const measure = measureOf(field);
  const rows = mechanisms.flatMap((m) => {
    const estimate = m.metrics?.[field];
    return estimate ? [{ label: m.name, estimate, text: estimateText(measure, estimate) }] : [];
  });
  return (
    <Panel title="One metric">
      <Select
        label="Metric"
        description={measure.about}
        data={known.map((m) => ({ value: m.field, label: m.title }))}
        value={field}
        onChange={(value) => value && setField(value)}
        allowDeselect={false}
        maw={320}
        mb="md"
      />
      <IntervalPlot rows={rows} />
    </Panel>
  );
}

// How long each twentieth of the jobs waited at most. Of the last one the longest wait of all would
// be all there is to see.
function Waits({ summary }: { summary: Summary }) {
  const mechanisms = (summary.mechanisms ?? []).filter((m) => (m.waits ?? []).length > 0);
  const n = mechanisms[0]?.waits?.length ?? 0;
  const series = mechanisms.map((m) => ({ label: m.name, values: (m.waits ?? []).slice(0, -1) }));
  return (
    <Panel title="How long jobs waited">
      <Chart
        label="Waiting time by share of the jobs"
        x={Array.from({ length: n - 1 }, (_, i) => (100 * i) / (n - 1))}
        series={series}
        xLabel="% of the jobs waited no longer"
        format={shortTime}
        from0
        height={220}
      />
    </Panel>
  );
}

export function ResultCharts({ summary }: { summary: Summary }) {
  const waits = (summary.mechanisms ?? []).some((m) => (m.waits ?? []).length > 1);
  return (
    <SimpleGrid cols={{ base: 1, md: waits ? 2 : 1 }} spacing="lg">
      <OneMetric summary={summary} />
      {waits && <Waits summary={summary} />}
    </SimpleGrid>
  );
}
