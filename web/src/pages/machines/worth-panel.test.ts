import { expect, test } from 'vitest';
import type { Lease } from './leases';
import { earnedInWeek } from './worth-panel';

const kNow = Date.parse('2026-03-10T00:00:00Z');
const lease = (more: Partial<Lease>) => ({ granted: '2026-03-01T00:00:00Z', earned: 10, ...more }) as Lease;

test('what was earned in seven days counts by time', () => {
  expect(earnedInWeek([lease({ started: '2026-03-09T00:00:00Z' })], kNow)).toBe(10);
  expect(earnedInWeek([lease({ started: '2026-03-01T00:00:00Z', ended: '2026-03-02T00:00:00Z' })], kNow)).toBe(0);
  // Half of it lies before.
  expect(earnedInWeek([lease({ started: '2026-03-02T00:00:00Z', ended: '2026-03-04T00:00:00Z' })], kNow)).toBe(5);
  expect(earnedInWeek([], kNow)).toBe(0);
});
