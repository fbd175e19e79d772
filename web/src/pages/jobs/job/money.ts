import type { Schemas } from '../../../api/client';
import { count, credits, duration, seconds } from '../../../format';

// What a job has cost over time, and what was quoted against what it came to.

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
  quoted: number;
  low: number;
  high: number;
  actual: number;
  verdict: string;
};

function verdict(actual: number, low: number, high: number, over: boolean): string {
  if (actual > high) return over ? 'more than quoted' : 'more than quoted already';
  if (!over) return 'so far';
  return actual < low ? 'less than quoted' : 'as quoted';
}

// What was quoted when the job was submitted, which never changes, beside what it came to. Empty while
// there is nothing to compare.
export function compare(job: Job, now: number): Comparison[] {
  const { quoted: q, actual: a } = job;
  if (!q || !a || !job.started) return [];
  const took = a.over ? seconds(a.time) : (now - Date.parse(job.started)) / 1000;
  const one = (what: Comparison['what'], [quoted, low, high]: [number, number, number], actual: number) => ({
    what, quoted, low, high, actual, verdict: verdict(actual, low, high, a.over),
  });
  return [
    one('time', [seconds(q.time), seconds(q.time_low), seconds(q.time_high)], took),
    one('cost', [q.cost, q.cost_low, q.cost_high], a.cost),
  ];
}

// What a quote rests on.
export function restsOn({ method, runs }: Pick<Schemas['JobQuote'], 'method' | 'runs'>): string {
  switch (method) {
    case 'runs':
      return `from ${count(runs, 'run')} of this kind`;
    case 'similar':
      return `rough: from ${count(runs, 'run')} of a training like it`;
    case 'guess':
      return 'a guess: nothing like it has run here';
    case 'parts':
      return `from ${count(runs, 'part')} of its own`;
  }
}

// What a quote's ranges are.
export const rangeWords = ({ method }: Pick<Schemas['JobQuote'], 'method'>): string =>
  method === 'runs' ? '8 of 10 runs' : 'range (a guess)';

// How a training ended, with what it took beside what was quoted.
export function endedText({ quoted: q, actual: a }: Job, reason: string): string {
  if (!a?.over) return `Ended: ${reason}.`;
  const quoted = q ? ` Quoted: ${duration(seconds(q.time))} and ${credits(q.cost)} credits.` : '';
  return `Ended after ${duration(seconds(a.time))}, for ${credits(a.cost)} credits: ${reason}.${quoted}`;
}

// Credits an hour, at the prices of the leases that are open.
export function rateOf(job: Job): number {
  return (job.leases ?? []).reduce((sum, l) => sum + l.price * l.slots, 0);
}

// A cap far above what was spent would press the curve to the bottom of its picture.
export const showsCap = ({ spent, budget }: Pick<Job, 'spent' | 'budget'>): boolean => spent >= budget / 4;
