import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { ChartProps } from './plot';

const Plot = lazy(() => import('./plot'));

// A chart; the library that draws it (uPlot) comes with the first one. The space is kept free
// meanwhile.
export function Chart(props: ChartProps) {
  return (
    <Suspense fallback={<Skeleton height={props.height ?? 240} />}>
      <Plot {...props} />
    </Suspense>
  );
}

export type { ChartProps, Series } from './plot';
