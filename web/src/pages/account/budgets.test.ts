import { expect, test } from 'vitest';
import { usedOf } from './budgets';

test('a budget says how much of it is used', () => {
  const use = { name: 'connections', what: 'connections from one address', unit: 'count' as const, used: 3, limit: 1000 };
  expect(usedOf(use)).toBe('3 of 1,000 connections from one address');
});

test('one without a limit says so, and no number that nobody reaches', () => {
  const use = { name: 'blob-bytes', what: 'of files', unit: 'bytes' as const, used: 0, limit: 2 ** 60 };
  expect(usedOf(use)).toBe('0 B of files, no limit');
});
