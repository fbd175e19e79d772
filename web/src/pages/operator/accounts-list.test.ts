import { expect, test } from 'vitest';
import { found } from './accounts-list';

const ada = { name: 'ada' };
const bob = { name: 'bob' };

test('accounts are found by a part of their name', () => {
  expect(found([ada, bob], '')).toEqual([ada, bob]);
  expect(found([ada, bob], ' AD ')).toEqual([ada]);
});

test('an account that is not on a page yet is found by its whole name', () => {
  expect(found([bob], 'ada', ada)).toEqual([ada]);
  expect(found([ada, bob], 'ada', ada)).toEqual([ada]);
  expect(found([bob], 'ad', ada)).toEqual([]); // An answer to an earlier question.
});
