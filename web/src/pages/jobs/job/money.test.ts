import { expect, test } from 'vitest';
import { aJob, aLease } from '../testing';
import { compare, rateOf, spendingOf } from './money';

const noon = Date.parse('2026-01-01T12:00:00Z');

test('what was spent by a moment is the sum over leases', () => {
  const s = spendingOf(
    [
      aLease({ started: '2026-01-01T12:00:00Z', settled_until: '2026-01-01T12:10:00Z', paid: 1 }),
      aLease({ started: '2026-01-01T12:05:00Z', settled_until: '2026-01-01T12:10:00Z', paid: 2 }),
      aLease({ paid: 0 }),
    ],
    noon + 1_200_000,
  );
  expect(s.x.map((x) => x - noon / 1000)).toEqual([0, 300, 600, 1_200]);
  expect(s.y).toEqual([0, 0.5, 3, 3]);
});

test('ten thousand leases draw a bounded number of points, and the end is exact', () => {
  const leases = Array.from({ length: 10_000 }, (_, i) =>
    aLease({
      started: new Date(noon + i * 1_000).toISOString(),
      settled_until: new Date(noon + i * 1_000 + 60_000).toISOString(),
      paid: 0.01,
    }),
  );
  const s = spendingOf(leases, noon);
  expect(s.x.length).toBeLessThanOrEqual(242);
  expect(s.y.at(-1)).toBeCloseTo(100);
});

test('no leases, no curve', () => {
  expect(spendingOf([], noon)).toEqual({ x: [], y: [] });
});

const forecast = {
  workers: 2,
  time: '10m',
  time_low: '8m',
  time_high: '12m',
  cost: 1,
  cost_low: 0.8,
  cost_high: 1.2,
};

test('a job that ended is compared with its forecast', () => {
  const job = aJob({
    forecast,
    started: '2026-01-01T12:00:00Z',
    ended: '2026-01-01T12:11:00Z',
    spent: 1.5,
    state: 'succeeded',
  });
  expect(compare(job, 1, noon).map((c) => [c.what, c.actual, c.verdict])).toEqual([
    ['time', 660, 'as forecast'],
    ['cost', 1.5, 'more than forecast'],
  ]);
});

test('one that reached its target half way, with half of its forecast', () => {
  const job = aJob({
    forecast,
    started: '2026-01-01T12:00:00Z',
    ended: '2026-01-01T12:05:00Z',
    spent: 0.3,
    state: 'succeeded',
  });
  expect(compare(job, 0.5, noon).map((c) => [c.forecast, c.verdict])).toEqual([
    [300, 'as forecast'],
    [0.5, 'less than forecast'],
  ]);
});

test('one whose target was expected half way, with all of it', () => {
  const job = aJob({
    forecast: { ...forecast, part: 0.5 },
    started: '2026-01-01T12:00:00Z',
    ended: '2026-01-01T12:09:00Z',
    spent: 1,
    state: 'succeeded',
  });
  expect(compare(job, 0.4, noon).map((c) => c.forecast)).toEqual([600, 1]);
  // It was not reached, and all epochs were needed.
  expect(compare(job, 1, noon).map((c) => c.forecast)).toEqual([1200, 2]);
});

test('one that runs is not judged before it is late', () => {
  const job = aJob({ forecast, started: '2026-01-01T12:00:00Z', spent: 0.1 });
  expect(compare(job, 0.2, noon + 60_000)[0]?.verdict).toBe('so far');
  expect(compare(job, 0.2, noon + 900_000)[0]?.verdict).toBe('more than forecast already');
  expect(compare(aJob(), 0, noon)).toEqual([]);
});

test('the rate is that of the open leases', () => {
  expect(rateOf(aJob({ leases: [aLease({ price: 0.5, slots: 2 }), aLease({ price: 0.25 })] }))).toBe(1.25);
  expect(rateOf(aJob())).toBe(0);
});
