import 'uplot/dist/uPlot.min.css';
import { Button, Table, useComputedColorScheme } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import { Legend } from './plot-legend';
import { fullRange, options, plainText } from './plot-options';
import classes from './plot.module.css';

export type Series = {
  label: string;
  values: (number | null)[];
  color?: string;
  dash?: boolean;
  points?: boolean; // Marks only, no line.
  bars?: boolean; // From its x to the next.
  steps?: boolean; // Holds its value until the next one.
  scale?: 'right'; // An axis of its own, on the right.
  hidden?: boolean; // Not in the legend; for the edges of a band.
  guide?: boolean; // A line to compare with: no marks, no value in the legend.
};

// Two series, upper and lower, with the space between filled; its name in the legend.
export type Band = [number, number, string?];

export type ChartProps = {
  label: string; // What it shows, for those who cannot see it.
  x: number[]; // Ascending; seconds since 1970 when `time`.
  series: Series[];
  window?: [number, number]; // What x runs over, whatever points there are.
  time?: boolean;
  height?: number;
  whole?: boolean; // x counts something: no ticks between whole numbers.
  xLabel?: string;
  yLabel?: string;
  lengths?: boolean; // Both axes are lengths of time, in seconds.
  format?: (y: number, step?: number) => string; // step: between two ticks of the axis.
  formatX?: (x: number, step?: number) => string; // Unless `time`.
  formatRight?: (y: number) => string;
  bands?: Band[];
  from0?: boolean; // The axis includes 0.
};

const kRowsShown = 200;

// The same numbers as a table, for screen readers.
function Rows({ p }: { p: ChartProps }) {
  const step = Math.max(1, Math.ceil(p.x.length / kRowsShown));
  const at = (x: number) => (p.time ? new Date(x * 1000).toLocaleString() : plainText(x));
  return (
    <Table className={classes['table']}>
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
                  {s.values[i] == null
                    ? ''
                    : ((s.scale === 'right' ? p.formatRight : p.format) ?? plainText)(s.values[i])}
                </td>
              ))}
            </tr>
          ),
        )}
      </tbody>
    </Table>
  );
}

const kLeastDrag = 4; // px; less is a click.

// A chart by uPlot, which draws ten thousand points in milliseconds. It is made again only when its
// shape changes; new numbers go into the one that is there, and a zoom stays.
export default function Plot(p: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const dark = useComputedColorScheme('light') === 'dark';
  const [zoomed, setZoomed] = useState(false);
  const zoom = useRef<[number, number]>();
  const [at, setAt] = useState<number>();
  const [off, setOff] = useState<Set<number>>(new Set());
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
    const dragged = (made: uPlot) => {
      const { left, width } = made.select;
      if (width < kLeastDrag) return;
      zoom.current = [made.posToVal(left, 'x'), made.posToVal(left + width, 'x')];
      setZoomed(true);
      made.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      made.setData(latest.current.data, true);
    };
    const hooks = { setSelect: [dragged], setCursor: [(made: uPlot) => setAt(made.cursor.idx ?? undefined)] };
    zoom.current = undefined;
    setZoomed(false);
    const range = () => zoom.current ?? fullRange(latest.current.p, latest.current.data[0]);
    const made = new uPlot(options(latest.current.p, box.clientWidth, dark, range, hooks), latest.current.data, box);
    plot.current = made;
    setOff(new Set());
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
  const [from, to] = p.window ?? [];
  useEffect(() => plot.current?.setData(data, true), [data, from, to]);
  const reset = () => {
    zoom.current = undefined;
    setZoomed(false);
    plot.current?.setData(data, true);
  };
  const toggle = (i: number) => {
    const next = new Set(off);
    if (!next.delete(i)) next.add(i);
    plot.current?.setSeries(i + 1, { show: !next.has(i) });
    setOff(next);
  };
  return (
    <figure className={classes['figure']} style={{ minHeight: (p.height ?? 240) + 26 }}>
      <div ref={place} aria-hidden="true" title="Drag to zoom in" onDoubleClick={reset} />
      {zoomed && (
        <Button className={classes['reset'] ?? ''} size="compact-xs" variant="default" onClick={reset}>
          Reset zoom
        </Button>
      )}
      <Legend p={p} at={at} off={off} onToggle={toggle} />
      <Rows p={p} />
    </figure>
  );
}
