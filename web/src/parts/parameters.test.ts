import { expect, test } from 'vitest';
import { parameter } from '../testing/mechanisms';
import { aboutOf, firstParams, wrong } from './parameters';

test('a field says what it takes, what counts when it is empty, and what is wrong', () => {
  const kappa = parameter('kappa', { low: 0, high: 1, default: '0.5' });
  expect(aboutOf(kappa)).toBe('The kappa. From 0 to 1. Empty: 0.5.');
  expect(wrong(kappa, '')).toBeUndefined();
  expect(wrong(kappa, '0.25')).toBeUndefined();
  expect(wrong(kappa, '1.5')).toBe('At most 1.');
  expect(wrong(kappa, '-1')).toBe('At least 0.');
  expect(wrong(kappa, 'half')).toBe('Write a number.');
  const low = parameter('low', { type: 'price', low: 0, high: 9, above_low: true, default_words: 'a quarter' });
  expect(aboutOf(low)).toBe('The low. Credits per slot-hour. Empty: a quarter.');
  expect(wrong(low, '0')).toBe('Above 0.');
  const count = parameter('timeout_ms', { type: 'whole', low: 1, high: 60000, default: '250' });
  expect(wrong(count, '2.5')).toBe('Write a whole number.');
  expect(wrong(parameter('program', { type: 'text', needed: true }), ' ')).toBe('It is needed.');
});

test('a form begins with what a live market needs', () => {
  expect(firstParams([parameter('long', { type: 'choice', choices: ['vickrey', 'lottery'], suggested: 'lottery' })]))
    .toEqual({ long: 'lottery' });
  expect(firstParams([parameter('kappa', { default: '0.5' })])).toEqual({});
});
