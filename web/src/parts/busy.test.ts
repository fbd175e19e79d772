import { expect, test } from 'vitest';
import { dateTime } from '../format';
import { busyText } from './busy';

const since = '2026-11-20T14:02:00Z';
const again = '2026-11-20T14:07:00Z';

test('what keeps a machine from a proof', () => {
  expect(busyText({ cores: 1.94, of: 2, since, again })).toBe(
    `other programs use 1.9 of 2 cores since ${dateTime(since)}; tried again by ${dateTime(again)}, or when they stop`,
  );
  expect(busyText({ cores: 1, of: 1, since })).toBe(`other programs use 1.0 of 1 core since ${dateTime(since)}`);
});
