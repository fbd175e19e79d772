import type { Schemas } from '../../../api/client';
import { seconds } from '../../../format';
import type { Draft } from '../file/draft';

// The candidates of a plan, as points of time and cost.

export type Candidate = Schemas['PlanCandidate'];
export type NewJob = Schemas['NewJob'];

export type Point = {
  workers: number;
  time: number; // seconds
  timeLow: number;
  timeHigh: number;
  cost: number;
  costLow: number;
  costHigh: number;
  best: boolean; // No other is both faster and cheaper.
};

export function pointsOf(candidates: Candidate[]): Point[] {
  const points = candidates.map((c) => ({
    workers: c.workers,
    time: seconds(c.time),
    timeLow: seconds(c.time_low),
    timeHigh: seconds(c.time_high),
    cost: c.cost,
    costLow: c.cost_low,
    costHigh: c.cost_high,
  }));
  return points.map((p) => ({
    ...p,
    best: !points.some(
      (q) => q !== p && q.time <= p.time && q.cost <= p.cost && (q.time < p.time || q.cost < p.cost),
    ),
  }));
}

// The job with the candidate that somebody picked. The planner's own choice needs no word: it also
// lets workers that come later help. Any other number of workers is a bound, and any other class the
// only one.
export function withChoice(job: NewJob, picked: Candidate | undefined): NewJob {
  if (!picked || picked.chosen) return job;
  const least = job.workers?.min ?? 1;
  const { also_classes = [], ...one } = job;
  return {
    ...one,
    ...(also_classes.length > 0 ? { class: picked.class } : {}),
    workers: { min: Math.min(least, picked.workers), max: picked.workers },
  };
}

// The same choice as a change of the form, so that form and file say what is submitted. `asked`: the
// form as the plan was made from it.
export function choiceEdit(asked: Draft, job: NewJob, picked: Candidate | undefined): Partial<Draft> {
  const { least, most, class: slot, also } = asked;
  if (!picked || picked.chosen) return { least, most, class: slot, also };
  const { workers, class: named } = withChoice(job, picked);
  return {
    least: workers?.min ?? 1,
    most: workers?.max ?? 1,
    ...(also.length > 0 ? { class: named ?? slot, also: [] } : { class: slot, also }),
  };
}

export const inSeveralClasses = (candidates: Candidate[]): boolean =>
  candidates.some((c) => c.class !== candidates[0]?.class);

// The place of the planner's choice.
export function choiceOf(planned: { plan: Schemas['JobPlan'] } | undefined): number | undefined {
  const at = (planned?.plan.candidates ?? []).findIndex((c) => c.chosen);
  return at >= 0 ? at : undefined;
}

const kLabel = { width: 18, height: 14 }; // px

// Which labels stand below their points: those that would lie on the label of a point before.
export function labelsBelow(points: { x: number; y: number }[]): boolean[] {
  const out: boolean[] = [];
  for (const p of points)
    out.push(
      out.some((below, i) => {
        const q = points[i];
        return !below && q && Math.abs(p.x - q.x) < kLabel.width && Math.abs(p.y - q.y) < kLabel.height;
      }),
    );
  return out;
}

// Round numbers from 0 to a little more than `most`, five or so.
export function roundTicks(most: number): number[] {
  if (!(most > 0)) return [0, 1];
  const raw = most / 4;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * size).find((n) => n >= raw * 0.999) ?? 10 * size;
  const out: number[] = [];
  for (let i = 0; i * step < most + step * 0.999; ++i) out.push(Number((i * step).toPrecision(12)));
  return out;
}

const kTimes = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400,
];

// The same in seconds, minutes, hours and days.
export function timeTicks(most: number): number[] {
  const step = kTimes.find((s) => most / s <= 5) ?? Math.ceil(most / 5 / 86_400) * 86_400;
  const out: number[] = [];
  for (let t = 0; t < most + step * 0.999; t += step) out.push(t);
  return out.length > 1 ? out : [0, step];
}

const kLimits: Record<Candidate['limit'], string> = {
  compute: 'computing',
  network: 'the network',
  hub: 'the hub',
};
export const limitText = (limit: Candidate['limit']): string => kLimits[limit] ?? limit;
