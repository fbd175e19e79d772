import { expect, test } from 'vitest';
import { crossing, depth, freeAt, type Level, priceOf, slotsOf, wantedAt } from './book';

const level = (price: number, slots = 1): Level => ({ price, slots });
// The book of docs/mechanisms.md: four pairs agree, at a price from 8 to 9.
const asks = [1, 4, 5, 8, 13].map((p) => level(p));
const bids = [17, 14, 13, 9, 6].map((p) => level(p));

test('curves step at every level of either side', () => {
  expect(depth([level(1, 2), level(3, 4)], [level(5, 3)])).toEqual({
    x: [0, 2, 3, 6],
    supply: [1, 3, 3, 3],
    demand: [5, 5, 5, null],
  });
});

test('one side alone has a curve, no side has none', () => {
  expect(depth([], [level(5, 3)])).toEqual({ x: [0, 3], supply: [null, null], demand: [5, 5] });
  expect(depth([], [])).toEqual({ x: [], supply: [], demand: [] });
});

test('the crossing is where the last pair agrees', () => {
  expect(crossing(asks, bids)).toEqual({ slots: 4, low: 8, high: 9 });
  expect(crossing([level(1, 3)], [level(5, 2)])).toEqual({ slots: 2, low: 1, high: 1 });
  expect(crossing([level(1, 2)], [level(5, 2)])).toEqual({ slots: 2, low: 1, high: 5 });
  expect(crossing([level(6)], [level(5)])).toBeUndefined();
  expect(crossing([], bids)).toBeUndefined();
});

test('the n-th slot has a price while there are n', () => {
  const some = [level(0, 2), level(0.4, 3)];
  expect(priceOf(some, 2)).toBe(0);
  expect(priceOf(some, 3)).toBe(0.4);
  expect(priceOf(some, 6)).toBeUndefined();
  expect(slotsOf(some)).toBe(5);
  expect(freeAt(some, 0.3)).toBe(2);
  expect(wantedAt(bids, 13)).toBe(3);
});

test('ten thousand levels are quick to draw', () => {
  const many = Array.from({ length: 10_000 }, (_, i) => level(i, 1 + (i % 3)));
  const curves = depth(many, [...many].reverse());
  expect(curves.x.length).toBeGreaterThan(10_000);
  expect(curves.supply.at(-1)).toBe(9_999);
});
