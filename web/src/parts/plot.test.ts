import { expect, test } from 'vitest';
import { valueAt } from './plot-legend';
import { fullRange } from './plot-options';

const series = (more = {}) => [{ label: 'a', values: [1, 2, 3], ...more }];

test('the legend has the last value, or the one under the pointer', () => {
  expect(valueAt([1, 2, null], undefined)).toBe(2);
  expect(valueAt([1, 2, null], 0)).toBe(1);
  expect(valueAt([1, 2, null], 2)).toBeNull();
  expect(valueAt([], undefined)).toBeNull();
});

test('a window is the window, whatever points there are', () => {
  expect(fullRange({ label: '', x: [5], series: series(), window: [0, 7] }, [5])).toEqual([0, 7]);
});

test('the last bar is drawn whole', () => {
  expect(fullRange({ label: '', x: [0, 10, 20], series: series({ bars: true }) }, [0, 10, 20])).toEqual([0, 30]);
  expect(fullRange({ label: '', x: [0, 10, 20], series: series() }, [0, 10, 20])).toEqual([0, 20]);
});
