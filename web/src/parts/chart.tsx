import { Skeleton } from '@mantine/core';
import { chunk } from '../robust/chunk';
import type { ChartProps } from './plot';

// A chart; the library that draws it (uPlot) comes with the first one. The space is kept free
// meanwhile.
export const Chart = chunk<ChartProps>(
  () => import('./plot'),
  (props) => <Skeleton height={props.height ?? 240} />,
);

export type { Band, ChartProps, Series } from './plot';
