import { expect, test } from 'vitest';
import { differenceText, estimateText, measured, measureOf, places, shortTime, valueText } from './measures';

test('metrics are written in their units', () => {
  expect(estimateText(measureOf('efficiency'), { mean: 0.914, low: 0.911, high: 0.917 })).toBe('91.4% ± 0.3');
  expect(estimateText(measureOf('efficiency'), { mean: 0.5, low: 0.5 - 1e-16, high: 0.5 })).toBe('50.0%');
  expect(estimateText(measureOf('wait_p50'), { mean: 90, low: 90, high: 90 })).toBe('1 min 30 s');
  expect(estimateText(measureOf('price'), { mean: 1.8917, low: 1.8, high: 2 })).toBe('1.89 ± 0.1');
  expect(valueText(measureOf('units'), 12_345.6)).toBe('12,346');
  expect(valueText(measureOf('gini_access'), 0.48106)).toBe('0.481');
  expect(differenceText(measureOf('efficiency'), { mean: 0.05, low: 0.05, high: 0.05 })).toBe('+5.0 points');
  expect(differenceText(measureOf('efficiency'), { mean: -1e-5, low: -1e-5, high: -1e-5 })).toBe('0.0 points');
  expect(differenceText(measureOf('wait_p50'), { mean: -60, low: -90, high: -30 })).toBe('-1 min ± 30 s');
});

test('an axis has short times', () => {
  expect([0, 45, 90, 600, 5_400, 10_800, 200_000].map(shortTime)).toEqual([
    '0 s', '45 s', '90 s', '10 min', '90 min', '3 h', '2.3 d',
  ]);
});

test('only what was measured is shown, in the usual order, and what is new comes last', () => {
  const some = [{ metrics: { units: {}, efficiency: {} } }, { metrics: { novelty: {} } }];
  expect(measured(some).map((m) => m.field)).toEqual(['efficiency', 'units', 'novelty']);
});

test('intervals lie on one line', () => {
  const [a, b] = places([
    { mean: 1, low: 0.5, high: 1.5 },
    { mean: 9, low: 8, high: 10 },
  ]);
  expect(a?.low).toBeGreaterThan(0);
  expect(a?.low).toBeLessThan(a?.mean ?? 0);
  expect(b?.high).toBeLessThan(100);
  expect(places([{ mean: 0, low: 0, high: 0 }])[0]).toEqual({ low: 0, mean: 0, high: 0 });
});
