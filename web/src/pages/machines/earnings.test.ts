import { expect, test } from 'vitest';
import type { ClassEarnings } from '../../parts/worth-words';
import { estimate, expectedUse, type Prices, shareAtLeast } from './earnings';

const summary = { volume: 100, average: 0.5, low: 0.1, quartile1: 0.3, median: 0.5, quartile3: 0.6, high: 1 };
const prices: Prices = {
  class: 'c1', mechanism: 'k-double', suggested: 0.4, summary,
  buckets: [
    { from: '2026-01-01T00:00:00Z', prices: summary, utilisation: 0.25 },
    { from: '2026-01-01T01:00:00Z', prices: { volume: 0 }, utilisation: 0.75 },
    { from: '2026-01-01T02:00:00Z', prices: { volume: 0 } },
  ],
};
// Two slots, which would be leased half of the time; a tenth is the fee.
const kFee = 0.1;
const worth: ClassEarnings = {
  class: 'c1', cores: 1, memory_mib: 1024, gpus: 0, gpu_memory_mib: 0, slots: 2, price: 0.5, hours: 168, used: 0.9,
  week: { expected: 2 * 168 * 0.5 * 0.5 * (1 - kFee), low: 0, high: 151.2 },
};
const free = { watts: 0, perKwh: 0 };

test('how much was paid at a price or more', () => {
  expect(shareAtLeast(summary, 0)).toBe(1);
  expect(shareAtLeast(summary, 0.1)).toBe(1);
  expect(shareAtLeast(summary, 0.2)).toBeCloseTo(0.875);
  expect(shareAtLeast(summary, 0.5)).toBeCloseTo(0.5);
  expect(shareAtLeast(summary, 0.8)).toBeCloseTo(0.125);
  expect(shareAtLeast(summary, 1.01)).toBe(0);
  expect(shareAtLeast({ volume: 0 }, 0.1)).toBe(0);
  const one = { volume: 3, average: 1, low: 1, quartile1: 1, median: 1, quartile3: 1, high: 1 };
  expect(shareAtLeast(one, 1)).toBe(1);
  expect(shareAtLeast(one, 1.001)).toBe(0);
});

test('the use is what the market expects of these slots', () => {
  expect(expectedUse(worth, kFee)).toBeCloseTo(0.5);
  expect(expectedUse({ ...worth, week: undefined }, kFee)).toBeUndefined();
  expect(expectedUse({ ...worth, price: 0 }, kFee)).toBeUndefined();
  expect(expectedUse(undefined, kFee)).toBeUndefined();
});

test('at the market price, always open, it is the estimate that the machine shows too', () => {
  const got = estimate(prices, worth, { price: undefined, slots: 2, hours: 168, fee: kFee }, free);
  expect(got.gross).toBeCloseTo(worth.week?.expected ?? 0);
});

test('at the market price: slots x hours x use x price, less the fee', () => {
  const got = estimate(prices, worth, { price: undefined, slots: 2, hours: 10, fee: kFee }, free);
  expect(got.gross).toBeCloseTo(2 * 10 * 0.5 * 0.5 * 0.9);
  expect(got.net).toBe(got.gross);
});

test('a price above what others pay is taken less often', () => {
  const got = estimate(prices, worth, { price: 0.6, slots: 1, hours: 10, fee: kFee }, free);
  expect(got.willing).toBeCloseTo(0.25);
  expect(got.gross).toBeCloseTo(10 * 0.6 * 0.5 * 0.25 * 0.9);
  expect(estimate(prices, worth, { price: 2, slots: 1, hours: 10, fee: kFee }, free).gross).toBe(0);
});

test('a price below the market still gets the market’s', () => {
  expect(estimate(prices, worth, { price: 0.1, slots: 1, hours: 10, fee: 0 }, free).price).toBe(0.5);
});

test('power is paid for all hours, leased or not', () => {
  const got = estimate(prices, worth, { price: undefined, slots: 1, hours: 100, fee: kFee }, { watts: 200, perKwh: 0.3 });
  expect(got.power).toBeCloseTo(6);
  expect(got.net).toBeCloseTo((got.gross ?? 0) - 6);
});

test('without an estimate of the market there is none here, only the most it could be', () => {
  const got = estimate(prices, undefined, { price: undefined, slots: 1, hours: 10, fee: 0 }, free);
  expect(got).toMatchObject({ use: undefined, gross: undefined, net: undefined });
  expect(got.full).toBeCloseTo(4);
});
