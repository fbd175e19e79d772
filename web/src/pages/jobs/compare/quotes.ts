import type { Schemas } from '../../../api/client';
import { seconds } from '../../../format';

// What was forecast for jobs that have ended, against what they came to.

type Job = Schemas['Job'];
export type Quoted = { cost: number; costLow: number; costHigh: number; time: number };

// The one place that knows where a job has its forecast.
export function quoteOf(job: Job): Quoted | undefined {
  const f = job.forecast;
  return f && { cost: f.cost, costLow: f.cost_low, costHigh: f.cost_high, time: seconds(f.time) };
}

export type Outcome = { job: Job; quoted: Quoted; cost: number; time: number; verdict: string };

export function outcomeOf(job: Job): Outcome | undefined {
  const quoted = quoteOf(job);
  if (!quoted || job.state !== 'succeeded' || !job.started || !job.ended) return undefined;
  const cost = job.spent;
  const verdict =
    cost < quoted.costLow ? 'less than forecast' : cost > quoted.costHigh ? 'more than forecast' : 'as forecast';
  return { job, quoted, cost, time: (Date.parse(job.ended) - Date.parse(job.started)) / 1000, verdict };
}

export const outcomes = (jobs: Job[]): Outcome[] => jobs.flatMap((job) => outcomeOf(job) ?? []);

// The middle of actual / forecast: 1.1 is a tenth more than forecast.
export function medianRatio(of: Outcome[], pick: (o: Outcome) => [number, number]): number | undefined {
  const ratios = of
    .map(pick)
    .filter(([forecast]) => forecast > 0)
    .map(([forecast, actual]) => actual / forecast)
    .sort((a, b) => a - b);
  const middle = Math.floor(ratios.length / 2);
  if (ratios.length === 0) return undefined;
  return ratios.length % 2 ? ratios[middle] : ((ratios[middle - 1] ?? 0) + (ratios[middle] ?? 0)) / 2;
}

// Points of forecast against actual, with the line on which they would be equal. x rises strictly:
// points with the same forecast stand side by side.
export function scatter(points: [number, number][]): { x: number[]; actual: (number | null)[]; equal: number[] } {
  const most = Math.max(0, ...points.map(([f]) => f));
  const sorted = [...points].sort((a, b) => a[0] - b[0]);
  const x: number[] = [0];
  const actual: (number | null)[] = [null];
  for (const [forecast, got] of sorted) {
    const last = x.at(-1) ?? 0;
    x.push(forecast > last ? forecast : last + most * 1e-6);
    actual.push(got);
  }
  return { x, actual, equal: x };
}
