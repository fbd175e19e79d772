import { expect, test } from 'vitest';
import { estimate, presentUse, type Prices, shareAtLeast } from './earnings';

const summary = { volume: 100, average: 0.5, low: 0.1, quartile1: 0.3, median: 0.5, quartile3: 0.6, high: 1 };
const prices: Prices = {
  class: 'c1', mechanism: 'k-double', suggested: 0.4, summary,
  buckets: [
    { from: '2026-01-01T00:00:00Z', prices: summary, utilisation: 0.25 },
    { from: '2026-01-01T01:00:00Z', prices: { volume: 0 }, utilisation: 0.75 },
    { from: '2026-01-01T02:00:00Z', prices: { volume: 0 } },
  ],
};
const quiet: Prices = { ...prices, summary: { volume: 0 }, buckets: [] };
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

test('the present use is the mean of the last day', () => {
  expect(presentUse(prices)).toBe(0.5);
  expect(presentUse(quiet)).toBeUndefined();
});

test('at the market price: slots x hours x use x mean price, less the fee', () => {
  const got = estimate(prices, { price: undefined, slots: 2, hours: 10, fee: 0.1 }, free);
  expect(got.gross).toBeCloseTo(2 * 10 * 0.5 * 0.5 * 0.9);
  expect(got.net).toBe(got.gross);
});

test('a price above what others pay is taken less often', () => {
  const got = estimate(prices, { price: 0.6, slots: 1, hours: 10, fee: 0 }, free);
  expect(got.willing).toBeCloseTo(0.25);
  expect(got.gross).toBeCloseTo(10 * 0.6 * 0.5 * 0.25);
  expect(estimate(prices, { price: 2, slots: 1, hours: 10, fee: 0 }, free).gross).toBe(0);
});

test('a price below the market still gets the market’s', () => {
  expect(estimate(prices, { price: 0.1, slots: 1, hours: 10, fee: 0 }, free).price).toBe(0.5);
});

test('power is paid for all hours, leased or not', () => {
  const got = estimate(prices, { price: undefined, slots: 1, hours: 100, fee: 0 }, { watts: 200, perKwh: 0.3 });
  expect(got.power).toBeCloseTo(6);
  expect(got.net).toBeCloseTo(got.gross - 6);
});

test('without any history: the suggested price, and the use is not known', () => {
  const got = estimate(quiet, { price: undefined, slots: 1, hours: 10, fee: 0 }, free);
  expect(got.use).toBeUndefined();
  expect(got.gross).toBeCloseTo(4);
});
