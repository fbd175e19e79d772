import type { Schemas } from '../../../api/client';

// Trials of a sweep as lines across axes: one for each parameter, and one for the metric. Places are
// from 0 (below) to 1.

type Status = Schemas['SweepStatus'];
export type Trial = Schemas['SweepTrial'];

export type Mark = { at: number; text: string };
export type Axis = { name: string; marks: Mark[]; place: (json: string) => number };
export type Line = { trial: Trial; at: number[]; good: number; best: boolean };

// A setting is JSON; people see words without quotes.
export function plain(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : String(value);
  } catch {
    return json;
  }
}

const part = (x: number, low: number, high: number) => (high > low ? (x - low) / (high - low) : 0.5);
const short = (x: number) => String(Number(x.toPrecision(4)));

// Numbers by their size, words one after the other.
export function axisOf(name: string, values: string[], log: boolean): Axis {
  const all = [...new Set(values)];
  const numbers = all.map((v) => Number(v));
  if (all.length > 0 && all.every((v) => v.trim() !== '') && numbers.every(Number.isFinite)) {
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    const scaled = log && low > 0 ? Math.log : (x: number) => x;
    const place = (json: string) => part(scaled(Number(json)), scaled(low), scaled(high));
    const marks = high > low ? [low, high] : [low];
    return { name, place, marks: marks.map((x) => ({ at: place(String(x)), text: short(x) })) };
  }
  const words = all.sort();
  const place = (json: string) => part(words.indexOf(json), 0, words.length - 1);
  return { name, place, marks: words.map((w) => ({ at: place(w), text: plain(w) })) };
}

export function parallel({ sweep, trials = [], best }: Status): { axes: Axis[]; lines: Line[] } {
  const told = trials.filter((t) => t.value !== undefined);
  const values = told.map((t) => t.value ?? 0);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const axes = Object.entries(sweep.parameters ?? {}).map(([name, p]) =>
    axisOf(name, told.map((t) => t.parameters?.[name] ?? ''), p.scale === 'log'),
  );
  const metric = axisOf(sweep.metric, values.map(String), false);
  const lines = told.map((trial): Line => {
    const at = part(trial.value ?? 0, low, high);
    return {
      trial,
      at: [...axes.map((axis) => axis.place(trial.parameters?.[axis.name] ?? '')), metric.place(String(trial.value))],
      good: sweep.goal === 'minimize' ? 1 - at : at,
      best: trial.number === best,
    };
  });
  // The better are drawn over the others.
  lines.sort((a, b) => a.good - b.good || Number(a.best) - Number(b.best));
  return { axes: [...axes, metric], lines };
}

// The best first; those that reported nothing last.
export function bestFirst({ sweep, trials = [] }: Status): Trial[] {
  const sign = sweep.goal === 'minimize' ? 1 : -1;
  const key = (t: Trial) => (t.value === undefined ? Infinity : sign * t.value);
  return [...trials].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.number - b.number));
}
