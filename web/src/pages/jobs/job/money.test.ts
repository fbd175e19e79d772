import { expect, test } from 'vitest';
import { aJob, aLease } from '../testing';
import { compare, endedText, rangeWords, rateOf, restsOn, spendingOf } from './money';

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

const quoted = {
  workers: 2,
  time: '10m',
  time_low: '8m',
  time_high: '12m',
  cost: 1,
  cost_low: 0.8,
  cost_high: 1.2,
  method: 'runs' as const,
  runs: 3,
};
const started = '2026-01-01T12:00:00Z';

test('a job that ended is compared with what was quoted, however much of it was done', () => {
  const job = aJob({ quoted, started, actual: { time: '5m', cost: 1.5, over: true }, state: 'succeeded' });
  expect(compare(job, noon).map((c) => [c.what, c.quoted, c.actual, c.verdict])).toEqual([
    ['time', 600, 300, 'less than quoted'],
    ['cost', 1, 1.5, 'more than quoted'],
  ]);
});

test('one that runs is not judged before it is late', () => {
  const job = aJob({ quoted, started, actual: { time: '1s', cost: 0.1, over: false } });
  expect(compare(job, noon + 60_000)[0]?.verdict).toBe('so far');
  expect(compare(job, noon + 900_000)[0]?.verdict).toBe('more than quoted already');
  expect(compare(aJob(), noon)).toEqual([]);
});

test('a quote says what it rests on', () => {
  expect(restsOn(quoted)).toBe('from 3 runs of this kind');
  expect(restsOn({ method: 'parts', runs: 1 })).toBe('from 1 part of its own');
});

test('the rate is that of the open leases', () => {
  expect(rateOf(aJob({ leases: [aLease({ price: 0.5, slots: 2 }), aLease({ price: 0.25 })] }))).toBe(1.25);
  expect(rateOf(aJob())).toBe(0);
});

test('the end of a training says what it took, beside what was quoted', () => {
  const reason = 'the target was reached';
  expect(endedText(aJob(), reason)).toBe('Ended: the target was reached.');
  const actual = { time: '5s900ms', cost: 0.01, over: true };
  expect(endedText(aJob({ actual }), reason)).toBe('Ended after 5.9 s, for 0.01 credits: the target was reached.');
  expect(endedText(aJob({ actual, quoted: { ...quoted, cost: 0.8 } }), reason)).toContain(
    'reached. Quoted: 10 min and 0.8 credits.',
  );
});

test('only ranges from runs of the kind hold 8 of 10', () => {
  expect(rangeWords({ method: 'runs' })).toBe('8 of 10 runs');
  for (const method of ['similar', 'guess'] as const) expect(rangeWords({ method })).toBe('range (a guess)');
});
