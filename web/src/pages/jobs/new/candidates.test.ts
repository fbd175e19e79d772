import { expect, test } from 'vitest';
import { type Candidate, inSeveralClasses, labelsBelow, pointsOf, roundTicks, timeTicks, withChoice } from './candidates';

const candidate = (workers: number, time: string, cost: number, chosen = false): Candidate => ({
  class: 'c1',
  cluster: `${workers} x ada`,
  workers,
  time,
  time_low: time,
  time_high: time,
  cost,
  cost_low: cost,
  cost_high: cost,
  limit: 'compute',
  chosen,
});

test('candidates that another beats in time and cost are not among the best', () => {
  const points = pointsOf([
    candidate(1, '10m', 1),
    candidate(2, '6m', 1.2),
    candidate(3, '6m30s', 1.5),
    candidate(4, '4m', 1.6),
  ]);
  expect(points.map((p) => p.best)).toEqual([true, true, false, true]);
  expect(points[0]?.time).toBe(600);
});

test('two that are the same are both among the best', () => {
  expect(pointsOf([candidate(1, '5m', 1), candidate(2, '5m', 1)]).map((p) => p.best)).toEqual([true, true]);
});

test('the choice of the planner leaves the job as it is, another one bounds its workers', () => {
  const job = { name: '', kind: 'train', workers: { min: 2, max: 8 }, budget: 1, priority: 0 };
  expect(withChoice(job, candidate(4, '5m', 1, true))).toBe(job);
  expect(withChoice(job, undefined)).toBe(job);
  expect(withChoice(job, candidate(3, '5m', 1)).workers).toEqual({ min: 2, max: 3 });
  expect(withChoice({ ...job, workers: { min: 4, max: 8 } }, candidate(3, '5m', 1)).workers).toEqual({
    min: 3,
    max: 3,
  });
});

test('a candidate of another class that somebody picked leaves no other class', () => {
  const job = { name: '', kind: 'train', class: 'c4', also_classes: ['c1'], budget: 1, priority: 0 };
  expect(withChoice(job, candidate(2, '5m', 1, true))).toBe(job);
  const one = withChoice(job, candidate(2, '5m', 1));
  expect(one).toMatchObject({ class: 'c1', workers: { min: 1, max: 2 } });
  expect(one).not.toHaveProperty('also_classes');
  const both = [candidate(1, '5m', 1), { ...candidate(1, '2m', 1), class: 'c4' }];
  expect(inSeveralClasses(both)).toBe(true);
  expect(inSeveralClasses([candidate(1, '5m', 1), candidate(2, '5m', 1)])).toBe(false);
});

test('labels of points that are close stand above and below in turn', () => {
  const at = (...xs: number[]) => xs.map((x) => ({ x, y: 10 }));
  expect(labelsBelow(at(0, 50, 100))).toEqual([false, false, false]);
  expect(labelsBelow(at(0, 10, 20, 30))).toEqual([false, true, false, true]);
  expect(labelsBelow([{ x: 0, y: 0 }, { x: 0, y: 30 }])).toEqual([false, false]);
});

test('ticks are round, begin at zero and reach beyond the last point', () => {
  expect(roundTicks(0.83)).toEqual([0, 0.25, 0.5, 0.75, 1]);
  expect(roundTicks(7)).toEqual([0, 2, 4, 6, 8]);
  expect(timeTicks(250)).toEqual([0, 60, 120, 180, 240, 300]);
  for (const most of [1e-6, 0.3, 1, 99, 12_345]) {
    expect(roundTicks(most).at(-1)).toBeGreaterThanOrEqual(most);
    expect(timeTicks(most).at(-1)).toBeGreaterThanOrEqual(most);
    expect(roundTicks(most).length).toBeLessThan(9);
  }
});
