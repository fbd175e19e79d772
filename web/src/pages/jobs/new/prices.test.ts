import { expect, test } from 'vitest';
import { canRun, priceTrouble } from './prices';

const prices = { class: 'c1', suggested: 0.25, cheapest: 0.5, limit: 0.4, limit_given: true, workers: 0 };

test('a limit below every ask is said with the price that would do', () => {
  expect(priceTrouble({ ...prices, enough: 0.5 })).toContain('A limit of 0.5 would be enough');
});

test('a job that would run has no trouble', () => {
  expect(priceTrouble({ ...prices, limit: 2, workers: 2, pays: 0.5 })).toBe('');
});

test('one that would wait for others or for an offer is told', () => {
  expect(priceTrouble({ ...prices, limit: 2 })).toContain('bid more');
  expect(priceTrouble({ ...prices, cheapest: undefined })).toContain('free');
});

test('without an ask in any class nothing could run it', () => {
  expect(canRun([{ ...prices, cheapest: undefined }, prices])).toBe(true);
  expect(canRun([{ ...prices, cheapest: undefined }])).toBe(false);
  expect(canRun()).toBe(false);
});
