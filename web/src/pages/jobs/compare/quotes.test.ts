import { expect, test } from 'vitest';
import { aJob } from '../testing';
import { medianRatio, outcomeOf, outcomes, scatter } from './quotes';

const forecast = { workers: 1, time: '10m', time_low: '8m', time_high: '12m', cost: 1, cost_low: 0.8, cost_high: 1.2 };
const ended = (spent: number, more = {}) =>
  aJob({
    state: 'succeeded', spent, forecast, started: '2026-01-01T12:00:00Z', ended: '2026-01-01T12:11:00Z', ...more,
  });

test('a job that succeeded is compared with its forecast', () => {
  expect(outcomeOf(ended(1.1))).toMatchObject({ cost: 1.1, time: 660, verdict: 'as forecast' });
  expect(outcomeOf(ended(2))?.verdict).toBe('more than forecast');
  expect(outcomeOf(ended(0.1))?.verdict).toBe('less than forecast');
});

test('jobs without a forecast, or cut short, are left out', () => {
  const { forecast: _, ...without } = ended(1);
  expect(outcomes([without, ended(1, { state: 'cancelled' }), aJob({ forecast })])).toEqual([]);
});

test('the middle says how far off forecasts are', () => {
  const all = outcomes([ended(1), ended(1.2), ended(3)]);
  expect(medianRatio(all, (o) => [o.quoted.cost, o.cost])).toBeCloseTo(1.2);
  expect(medianRatio([], (o) => [o.quoted.cost, o.cost])).toBeUndefined();
});

test('points with the same forecast stand side by side', () => {
  const s = scatter([[2, 3], [1, 1], [2, 4]]);
  expect(s.actual).toEqual([null, 1, 3, 4]);
  expect(s.x.every((x, i) => i === 0 || x > (s.x[i - 1] ?? 0))).toBe(true);
});
