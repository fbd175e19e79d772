import 'uplot/dist/uPlot.min.css';
import { Table, useComputedColorScheme } from '@mantine/core';
import { useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import { seriesColors } from '../theme';
import classes from './plot.module.css';

export type Series = {
  label: string;
  values: (number | null)[];
  color?: string;
  dash?: boolean;
  points?: boolean; // Marks only, no line.
  bars?: boolean;
  steps?: boolean; // Holds its value until the next one.
  scale?: 'right'; // An axis of its own, on the right.
  hidden?: boolean; // Not in the legend; for the edges of a band.
};

export type ChartProps = {
  label: string; // What it shows, for those who cannot see it.
  x: number[]; // Ascending; seconds since 1970 when `time`.
  series: Series[];
  time?: boolean;
  height?: number;
  whole?: boolean; // x counts something: no ticks between whole numbers.
  xLabel?: string;
  yLabel?: string;
  format?: (y: number, step?: number) => string; // step: between two ticks of the axis.
  formatRight?: (y: number) => string;
  bands?: [number, number][]; // Pairs of series, upper and lower, with the space between filled.
  from0?: boolean; // The axis includes 0.
};

const kRowsShown = 200;
const kWhole = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000];
const text = (y: number) => y.toLocaleString('en', { maximumSignificantDigits: 5 });

// Bars stand around their x: half of one at each end.
function roomForBars(plot: uPlot, low: number, high: number): uPlot.Range.MinMax {
  const x = plot.data[0];
  const half = x.length > 1 ? (high - low) / (x.length - 1) / 2 : 0.5;
  return [low - half, high + half];
}

function options(p: ChartProps, width: number, dark: boolean): uPlot.Options {
  const ink = dark ? '#c9cfd4' : '#495057';
  const grid = { stroke: dark ? '#3b4046' : '#e9ecef', width: 1 };
  const format = p.format ?? text;
  const formatRight = p.formatRight ?? text;
  const axis = { stroke: ink, grid, ticks: grid, font: '12px system-ui' };
  const color = (i: number) => p.series[i]?.color ?? seriesColors[i % seriesColors.length] ?? ink;
  const range = (_: uPlot, low: number | null, high: number | null): uPlot.Range.MinMax => {
    if (low === null || high === null) return [0, 1];
    const top = p.from0 ? Math.max(high, 0) : high;
    const bottom = p.from0 ? Math.min(low, 0) : low;
    const room = (top - bottom || Math.abs(top) || 1) * 0.06;
    return [p.from0 && bottom === 0 ? 0 : bottom - room, top + room];
  };
  return {
    width,
    height: p.height ?? 240,
    cursor: { y: false, points: { size: 6 } },
    legend: { live: true },
    scales: {
      x: { time: p.time ?? false, ...(p.series.some((s) => s.bars) ? { range: roomForBars } : {}) },
      y: { range },
      right: { range },
    },
    axes: [
      { ...axis, ...(p.whole ? { incrs: kWhole } : {}), ...(p.xLabel ? { label: p.xLabel, labelSize: 20 } : {}) },
      {
        ...axis,
        size: 64,
        values: (_, ticks, _axis, _space, step) => ticks.map((y) => format(y, step)),
        ...(p.yLabel ? { label: p.yLabel, labelSize: 20 } : {}),
      },
      {
        ...axis,
        scale: 'right',
        side: 1,
        size: 56,
        grid: { show: false },
        show: p.series.some((s) => s.scale === 'right'),
        values: (_, ticks) => ticks.map(formatRight),
      },
    ],
    series: [
      p.time ? {} : { label: p.xLabel ?? 'x' },
      ...p.series.map((s, i): uPlot.Series => {
        const paths = s.bars
          ? uPlot.paths.bars?.({ size: [0.7, 40] })
          : s.steps
            ? uPlot.paths.stepped?.({ align: 1 })
            : undefined;
        return {
          label: s.label,
          scale: s.scale ?? 'y',
          stroke: color(i),
          width: s.hidden ? 0 : 2,
          spanGaps: true,
          value: (_, y) => (y === null ? '–' : (s.scale === 'right' ? formatRight : format)(y)),
          ...(s.bars ? { fill: `${color(i)}66` } : {}),
          ...(s.dash ? { dash: [6, 4] } : {}),
          ...(s.points ? { points: { show: true, size: 7, fill: color(i) }, paths: () => null } : {}),
          ...(s.steps || s.bars || s.hidden ? { points: { show: false } } : {}),
          ...(paths ? { paths } : {}),
        };
      }),
    ],
    bands: (p.bands ?? []).map(([upper, lower]) => ({
      series: [upper + 1, lower + 1],
      fill: `${color(upper)}30`,
    })),
  };
}

// The same numbers as a table, for screen readers.
function Rows({ p }: { p: ChartProps }) {
  const step = Math.max(1, Math.ceil(p.x.length / kRowsShown));
  const at = (x: number) => (p.time ? new Date(x * 1000).toLocaleString() : text(x));
  return (
    <Table className={classes.table}>
      <caption>{p.label}</caption>
      <thead>
        <tr>
          <th>{p.xLabel ?? (p.time ? 'time' : 'x')}</th>
          {p.series.map((s) => (
            <th key={s.label}>{s.label}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {p.x.map((x, i) =>
          i % step ? null : (
            <tr key={i}>
              <td>{at(x)}</td>
              {p.series.map((s) => (
                <td key={s.label}>
                  {s.values[i] == null ? '' : ((s.scale === 'right' ? p.formatRight : p.format) ?? text)(s.values[i])}
                </td>
              ))}
            </tr>
          ),
        )}
      </tbody>
    </Table>
  );
}

// A chart by uPlot, which draws ten thousand points in milliseconds. It is made again only when its
// shape changes; new numbers go into the one that is there.
export default function Plot(p: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const dark = useComputedColorScheme('light') === 'dark';
  const data = useMemo(
    () => [p.x, ...p.series.map((s) => s.values)] as uPlot.AlignedData,
    [p.x, p.series],
  );
  const latest = useRef({ p, data });
  latest.current = { p, data };
  const shape = JSON.stringify([
    p.series.map(({ values: _, ...rest }) => rest), p.time, p.whole, p.height, p.xLabel, p.yLabel, p.bands, p.from0, dark,
  ]);
  useEffect(() => {
    const box = place.current;
    if (!box) return;
    const made = new uPlot(options(latest.current.p, box.clientWidth, dark), latest.current.data, box);
    made.root.querySelectorAll('tr.u-series').forEach((row, i) => {
      if (i > 0 && latest.current.p.series[i - 1]?.hidden) (row as HTMLElement).style.display = 'none';
    });
    plot.current = made;
    const watch = new ResizeObserver(() => {
      if (box.clientWidth > 0 && box.clientWidth !== made.width)
        made.setSize({ width: box.clientWidth, height: made.height });
    });
    watch.observe(box);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape, dark]);
  useEffect(() => plot.current?.setData(data), [data]);
  return (
    <figure className={classes.figure} style={{ minHeight: (p.height ?? 240) + 34 }}>
      <div ref={place} aria-hidden="true" />
      <Rows p={p} />
    </figure>
  );
}
