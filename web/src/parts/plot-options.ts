import uPlot from 'uplot';
import { seriesColors } from '../theme';
import type { Band, ChartProps } from './plot';
import { timeLabels } from './time-axis';

// How a chart is drawn, as uPlot is told.

const kWhole = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000];
// Steps between lengths of time, in seconds, that clocks have: not 200 s, but 5 min.
const kMinute = 60;
const kHour = 60 * kMinute;
const kDay = 24 * kHour;
export const kLengths = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * kMinute),
  ...[1, 2, 3, 6, 12].map((n) => n * kHour),
  ...[1, 2, 7, 14, 28, 91, 182, 364].map((n) => n * kDay),
];
export const plainText = (y: number) => y.toLocaleString('en', { maximumSignificantDigits: 5 });

export const colorOf = (p: ChartProps, i: number): string =>
  p.series[i]?.color ?? seriesColors[i % seriesColors.length] ?? '#868e96';

type Range = [number, number];

// All that there is to see without a zoom: the window, or all points. A bar stands to the right of its
// x and needs room there.
export function fullRange(p: ChartProps, x: ArrayLike<number>): Range {
  if (p.window) return p.window;
  const first = x[0] ?? 0;
  const last = x[x.length - 1] ?? 1;
  if (!p.series.some((s) => s.bars)) return first < last ? [first, last] : [first - 0.5, last + 0.5];
  return [first, last + (x.length > 1 ? (last - first) / (x.length - 1) : 1)];
}

function rangeOfY(p: ChartProps) {
  return (_: uPlot, low: number | null, high: number | null): uPlot.Range.MinMax => {
    if (low === null || high === null) return [0, 1];
    const top = p.from0 ? Math.max(high, 0) : high;
    const bottom = p.from0 ? Math.min(low, 0) : low;
    const room = (top - bottom || Math.abs(top) || 1) * 0.06;
    return [p.from0 && bottom === 0 ? 0 : bottom - room, p.from0 && top === 0 ? 0 : top + room];
  };
}

// Wide enough for the longest label.
const widthOf = (_: uPlot, values: string[] | null) =>
  22 + 7 * Math.max(3, ...(values ?? []).map((text) => String(text ?? '').length));

function axes(p: ChartProps, ink: string, lines: string): uPlot.Axis[] {
  const grid = { stroke: lines, width: 1 };
  const axis = { stroke: ink, grid, ticks: grid, font: '12px system-ui' };
  const format = p.format ?? plainText;
  return [
    {
      ...axis,
      space: p.time ? 64 : 50,
      size: p.time ? 44 : 32,
      ...(p.time ? { values: (_: uPlot, ticks: number[], _a: number, _s: number, step: number) => timeLabels(ticks, step) } : {}),
      ...(p.formatX
        ? { values: (_: uPlot, ticks: number[], _a: number, _s: number, step: number) => ticks.map((x) => p.formatX?.(x, step) ?? '') }
        : {}),
      ...(p.whole ? { incrs: kWhole } : p.lengths ? { incrs: kLengths, space: 80 } : {}),
      ...(p.xLabel ? { label: p.xLabel, labelSize: 20 } : {}),
    },
    {
      ...axis,
      size: widthOf,
      ...(p.lengths ? { incrs: kLengths } : {}),
      values: (_, ticks, _axis, _space, step) => ticks.map((y) => format(y, step)),
      ...(p.yLabel ? { label: p.yLabel, labelSize: 20 } : {}),
    },
    {
      ...axis,
      scale: 'right',
      side: 1,
      size: widthOf,
      grid: { show: false },
      show: p.series.some((s) => s.scale === 'right'),
      values: (_, ticks) => ticks.map((y) => (p.formatRight ?? plainText)(y)),
    },
  ];
}

function seriesOf(p: ChartProps): uPlot.Series[] {
  return p.series.map((s, i): uPlot.Series => {
    const paths = s.bars
      ? uPlot.paths.bars?.({ size: [0.8, 40], align: 1 })
      : s.steps
        ? uPlot.paths.stepped?.({ align: 1 })
        : undefined;
    return {
      label: s.label,
      scale: s.scale ?? 'y',
      stroke: colorOf(p, i),
      width: s.hidden ? 0 : 2,
      spanGaps: true,
      ...(s.bars ? { fill: `${colorOf(p, i)}66` } : {}),
      ...(s.dash ? { dash: [6, 4] } : {}),
      ...(s.points ? { points: { show: true, size: 7, fill: colorOf(p, i) }, paths: () => null } : {}),
      ...(s.steps || s.bars || s.hidden || s.guide ? { points: { show: false } } : {}),
      ...(paths ? { paths } : {}),
    };
  });
}

// `range`: what x shows at this moment. Where nothing stands on the right, the last label of the x
// axis needs room.
export function options(
  p: ChartProps,
  width: number,
  dark: boolean,
  range: () => Range,
  hooks: uPlot.Hooks.Arrays,
): uPlot.Options {
  const right = p.series.some((s) => s.scale === 'right');
  return {
    width,
    height: p.height ?? 240,
    padding: [8, right ? 0 : 28, 0, 0],
    cursor: { y: false, points: { size: 6 }, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => null } },
    legend: { show: false },
    scales: {
      x: { time: p.time ?? false, range },
      y: { range: rangeOfY(p) },
      right: { range: rangeOfY(p) },
    },
    axes: axes(p, dark ? '#c9cfd4' : '#495057', dark ? '#3b4046' : '#e9ecef'),
    series: [{}, ...seriesOf(p)],
    bands: (p.bands ?? []).map(([upper, lower]: Band) => ({
      series: [upper + 1, lower + 1],
      fill: `${colorOf(p, upper)}30`,
    })),
    hooks,
  };
}
