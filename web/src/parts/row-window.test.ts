import { expect, test } from 'vitest';
import { rowsSeen } from './row-window';

test('only what is on the screen is drawn, and the heights add up', () => {
  for (const top of [300, 0, -1_000, -20_000, -39_000, -45_000]) {
    const w = rowsSeen(1_000, 40, top, 800);
    expect(w.to - w.from).toBeLessThanOrEqual(45);
    expect(w.before + (w.to - w.from) * 40 + w.after).toBe(40_000);
  }
});

test('the rows under the eye are among them', () => {
  const w = rowsSeen(1_000, 40, -20_000, 800);
  expect(w.from).toBeLessThanOrEqual(500);
  expect(w.to).toBeGreaterThanOrEqual(520);
});

test('short lists are drawn whole', () => {
  expect(rowsSeen(3, 40, 200, 800)).toEqual({ from: 0, to: 3, before: 0, after: 0 });
  expect(rowsSeen(0, 40, 200, 800)).toEqual({ from: 0, to: 0, before: 0, after: 0 });
});
