import { expect, test } from 'vitest';
import { ignoreOf, isLeftOut } from './ignore';

// The cases of src/blob/ignore_test.cc: answers as `git check-ignore` gives them.
test.each<[string, string, boolean]>([
  ['', 'a', false],
  ['# a\n\n', 'a', false],
  ['\\#a', '#a', true],
  ['\\!a', '!a', true],
  ['a', 'a', true],
  ['a\r\n', 'a', true],
  ['a  \n', 'a', true],
  ['a\\ ', 'a ', true],
  ['a', 'd/a', true],
  ['a', 'ab', false],
  ['a', 'd/e/a/', true],
  ['*.pyc', 'x.pyc', true],
  ['*.pyc', 'd/x.pyc', true],
  ['*.pyc', 'x.pyc.txt', false],
  ['*.py[cod]', 'x.pyo', true],
  ['*.py[cod]', 'x.pyx', false],
  ['[a-c]', 'b', true],
  ['[!a-c]', 'b', false],
  ['[^a-c]', 'd', true],
  ['[]x]', ']', true],
  ['[a', 'a', false],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['?', 'a', true],
  ['?', 'ab', false],
  ['a*b*c', 'axxbxxc', true],
  ['a*b*c', 'axxbxx', false],
  ['a*bc', 'abcbc', true],
  ['/a', 'a', true],
  ['/a', 'd/a', false],
  ['d/a', 'd/a', true],
  ['d/a', 'e/d/a', false],
  ['a/', 'a/', true],
  ['a/', 'a', false],
  ['a/', 'd/a/', true],
  ['d/a/', 'e/d/a/', false],
  ['a*d', 'a/d', false],
  ['/a?d', 'a/d', false],
  ['**/a', 'a', true],
  ['**/a', 'd/e/a', true],
  ['**/d/a', 'e/d/a', true],
  ['a/**', 'a/', false],
  ['a/**', 'a/b', true],
  ['a/**', 'a/b/c', true],
  ['a/**/b', 'a/b', true],
  ['a/**/b', 'a/x/y/b', true],
  ['a/**/b', 'a/x/y/c', false],
  ['a/**/b/**/c', 'a/b/b/c', true],
  ['**', 'a', true],
  ['*.log\n!keep.log', 'keep.log', false],
  ['*.log\n!keep.log', 'd/keep.log', false],
  ['*.log\n!keep.log', 'other.log', true],
  ['!keep.log\n*.log', 'keep.log', true],
  ['*\n!*.py', 'a.py', false],
  ['*\n!*.py', 'a.txt', true],
  ['/', 'a', false],
])('%j on %s: %s', (patterns, path, left) => {
  const folder = path.endsWith('/');
  expect(ignoreOf(patterns)(folder ? path.slice(0, -1) : path, folder)).toBe(left);
});

test('what is in a folder that is left out goes with it', () => {
  const ignore = ignoreOf('.git/\n*.pyc\n!keep.pyc\n');
  expect(isLeftOut(ignore, '.git/objects/ab')).toBe(true);
  expect(isLeftOut(ignore, '.git/keep.pyc')).toBe(true);
  expect(isLeftOut(ignore, 'src/keep.pyc')).toBe(false);
  expect(isLeftOut(ignore, 'src/x.pyc')).toBe(true);
});

test('a hostile pattern does not take forever', () => {
  const ignore = ignoreOf(`${'*a'.repeat(300)}b\n${'**/a/'.repeat(150)}b`);
  expect(ignore('a'.repeat(255), false)).toBe(false);
  expect(ignore(`${'a/'.repeat(1_000)}c`, false)).toBe(false);
});
