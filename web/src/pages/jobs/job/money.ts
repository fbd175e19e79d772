import type { Schemas } from '../../../api/client';
import { seconds } from '../../../format';

// What a job has cost over time, and forecast against outcome.

type Lease = Schemas['Lease'];
type Job = Schemas['Job'];

export type Spending = { x: number[]; y: number[] }; // x: seconds since 1970

const kPoints = 240;

// Leases are paid as they go: from their start to the time they are settled to. So the sum of what
// each has cost by a moment is known well enough without every single payment.
export function spendingOf(leases: Lease[], until: number): Spending {
  const paid = leases.flatMap((l) => {
    const to = l.settled_until ?? l.ended;
    if (!l.started || !to || l.paid <= 0) return [];
    const from = Date.parse(l.started) / 1000;
    return [{ from, to: Math.max(from + 1e-3, Date.parse(to) / 1000), amount: l.paid }];
  });
  if (paid.length === 0) return { x: [], y: [] };
  const start = Math.min(...paid.map((p) => p.from));
  const end = Math.max(until / 1000, ...paid.map((p) => p.to));
  const edges = new Set<number>([start, end]);
  if (paid.length <= kPoints) for (const p of paid) edges.add(p.from).add(p.to);
  for (let i = 1; i < kPoints && paid.length > kPoints; ++i) edges.add(start + ((end - start) * i) / kPoints);
  const x = [...edges].sort((a, b) => a - b);
  const y = x.map((t) =>
    paid.reduce((sum, p) => sum + p.amount * Math.min(1, Math.max(0, (t - p.from) / (p.to - p.from))), 0),
  );
  return { x, y };
}

export type Comparison = {
  what: 'time' | 'cost';
  forecast: number;
  low: number;
  high: number;
  actual: number;
  verdict: string;
};

// `share`: how much of all epochs was done, 0 to 1. A training that ended early is compared with that
// part of its forecast; where its target was expected early (f.part), with the whole of it.
function partOf(f: NonNullable<Job['forecast']>, share: number): number {
  if (share <= 0) return 1;
  if (f.part === undefined) return share;
  return share < 1 ? 1 : 1 / f.part;
}

// Empty while there is nothing to compare.
export function compare(job: Job, share: number, now: number): Comparison[] {
  const f = job.forecast;
  if (!f || !job.started) return [];
  const over = job.ended !== undefined;
  const took = ((job.ended ? Date.parse(job.ended) : now) - Date.parse(job.started)) / 1000;
  const part = over ? partOf(f, share) : 1;
  // `start`: of each, what does not depend on the work.
  const one = (what: Comparison['what'], all: [number, number, number], actual: number, start = 0): Comparison => {
    const [forecast, low, high] = all.map((n) => start + (n - start) * part) as [number, number, number];
    const verdict = !over
      ? actual > high
        ? 'more than forecast already'
        : 'so far'
      : actual < low
        ? 'less than forecast'
        : actual > high
          ? 'more than forecast'
          : 'as forecast';
    return { what, forecast, low, high, actual, verdict };
  };
  return [
    one('time', [seconds(f.time), seconds(f.time_low), seconds(f.time_high)], took, seconds(f.startup ?? '0s')),
    one('cost', [f.cost, f.cost_low, f.cost_high], job.spent),
  ];
}

// Credits an hour, at the prices of the leases that are open.
export function rateOf(job: Job): number {
  return (job.leases ?? []).reduce((sum, l) => sum + l.price * l.slots, 0);
}
