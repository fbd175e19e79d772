import { expect, test } from 'vitest';
import { whereOf } from './names';

test('each machine is asked for once, and not more than fit', () => {
  expect(whereOf(['m2', 'm1', 'm2'])).toBe('machine=m1 or machine=m2');
  expect(whereOf([])).toBe('');
  const many = Array.from({ length: 5_000 }, (_, i) => `m${100_000 + i}`);
  expect(whereOf(many).length).toBeLessThan(2_000);
});
