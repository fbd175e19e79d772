import { expect, test } from 'vitest';
import { columns, csv, extremes, merged, slotTime, timeSlots } from './history';

const buckets = [
  {
    from: '2026-01-01T00:00:00Z',
    prices: { volume: 3, average: 0.4, low: 0.3, quartile1: 0.35, median: 0.4, quartile3: 0.45, high: 0.5 },
    utilisation: 0.5,
  },
  { from: '2026-01-01T01:00:00Z', prices: { volume: 0 } },
];

test('hours without trades are gaps, not zeros', () => {
  const c = columns(buckets, 1_767_200_000);
  expect(c.x).toEqual([1_767_225_600, 1_767_229_200]);
  expect(c.median).toEqual([0.4, null]);
  expect(c.volume).toEqual([3, 0]);
  expect(c.utilisation).toEqual([0.5, null]);
  // What began before the window is not half in it.
  expect(columns(buckets, 1_767_225_601).x).toEqual([1_767_229_200]);
});

test('a long history is drawn with fewer points', () => {
  const [traded, quiet] = buckets;
  if (!traded || !quiet) throw new Error('no buckets');
  const other = { from: 'later', prices: { volume: 1, average: 0.8, low: 0.1, quartile1: 0.6, median: 0.8, quartile3: 0.9, high: 1 }, utilisation: 1 };
  expect(merged([traded, quiet, other], 3)).toHaveLength(3);
  const [both, rest] = merged([traded, other, quiet], 2);
  expect(both?.prices).toMatchObject({ volume: 4, low: 0.1, high: 1 });
  expect(both?.prices.median).toBeCloseTo(0.5);
  expect(both?.utilisation).toBe(0.75);
  expect(rest).toEqual(quiet);
  const many = Array.from({ length: 10_000 }, () => traded);
  expect(merged(many, 600).length).toBeLessThanOrEqual(600);
});

test('the file has a row for each bucket', () => {
  expect(csv(buckets).split('\n')).toEqual([
    'from,volume,average,low,quartile1,median,quartile3,high,utilisation',
    '2026-01-01T00:00:00Z,3,0.4,0.3,0.35,0.4,0.45,0.5,0.5',
    '2026-01-01T01:00:00Z,0,,,,,,,',
    '',
  ]);
});

test('equal hours are one time slot', () => {
  const hour = (h: number, price: number) => ({ from: `2026-01-01T0${h}:00:00Z`, price });
  const slots = timeSlots([hour(0, 0.4), hour(1, 0.4), hour(2, 0.3), hour(3, 0.5)]);
  expect(slots.map((s) => [(s.until - s.from) / 3_600_000, s.price])).toEqual([
    [2, 0.4],
    [1, 0.3],
    [1, 0.5],
  ]);
  expect(extremes(slots)?.low.price).toBe(0.3);
  expect(extremes(slots)?.high.price).toBe(0.5);
  expect(extremes([])).toBeUndefined();
});

test('a time slot of another day says which', () => {
  const noon = new Date(2026, 0, 1, 12).getTime();
  const slot = { from: new Date(2026, 0, 1, 20).getTime(), until: new Date(2026, 0, 1, 22).getTime() };
  const today = slotTime(slot, noon);
  expect(slotTime(slot, noon + 86_400_000)).toMatch(new RegExp(`^\\S+ ${today}$`));
});
