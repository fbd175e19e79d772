import { expect, test } from 'vitest';
import { distance, near } from './near';

test('counts letters that differ', () => {
  expect(distance('prices', 'price')).toBe(1);
  expect(distance('', 'abc')).toBe(3);
  expect(distance('kitten', 'sitting')).toBe(3);
});

test('near names come first, others not at all', () => {
  const names = ['machines', 'jobs', 'prices', 'lab', 'ledger', 'operator', 'help', 'account'];
  expect(near('price', names)).toEqual(['prices']);
  expect(near('machine', names)[0]).toBe('machines');
  expect(near('job', names)[0]).toBe('jobs');
  expect(near('xyzzyxyzzy', names)).toEqual([]);
});
