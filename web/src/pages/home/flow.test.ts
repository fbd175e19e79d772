import { expect, test } from 'vitest';
import { flowOf, type Line, usualSpan } from './flow';

const now = new Date(2026, 0, 15, 12, 34);
const line = (kind: Line['kind'], amount: number, hoursAgo: number): Line => ({
  at: new Date(now.getTime() - hoursAgo * 3_600_000).toISOString(), kind, amount, memo: '',
});

test('earnings and spending are summed by hour', () => {
  const flow = flowOf([line('earn', 1, 0), line('earn', 2, 0.5), line('spend', -3, 1), line('earn', 9, 25)], 'day', now);
  expect(flow.x).toHaveLength(24);
  expect(flow.earned.slice(-2)).toEqual([0, 3]);
  expect(flow.spent.slice(-2)).toEqual([-3, 0]);
  expect(flow.earnedInAll).toBe(3);
  expect(flow.spentInAll).toBe(3);
});

test('and by day, with midnights of this computer', () => {
  const flow = flowOf([line('earn', 1, 12), line('earn', 2, 13), line('spend', -1, 24 * 6)], 'week', now);
  expect(flow.x).toHaveLength(7);
  expect(new Date((flow.x[6] ?? 0) * 1000).getHours()).toBe(0);
  expect(flow.earned.slice(-2)).toEqual([2, 1]);
  expect(flow.spent[0]).toBe(-1);
});

test('what only moves into or out of escrow is neither', () => {
  const flow = flowOf([line('reserve', -5, 1), line('refund', 4, 1), line('grant', 100, 1), line('bonus', 1, 1)], 'day', now);
  expect(flow.earnedInAll + flow.spentInAll).toBe(0);
});

test('the span that shows everything there is', () => {
  expect(usualSpan([], now)).toBe('week');
  expect(usualSpan([line('grant', 5, 900)], now)).toBe('week');
  expect(usualSpan([line('earn', 1, 2)], now)).toBe('day');
  expect(usualSpan([line('earn', 1, 2), line('spend', -1, 50)], now)).toBe('week');
  expect(usualSpan([line('earn', 1, 24 * 20)], now)).toBe('month');
});
