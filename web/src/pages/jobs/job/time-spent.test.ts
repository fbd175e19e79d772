import { expect, test } from 'vitest';
import { sharesOf, sharesText, workerTimes, worstStall } from './time-spent';

const none = {
  compute: '0',
  checking: '0',
  prepare: '0',
  fetch: '0',
  download: '0',
  upload: '0',
  waiting: '0',
};

test('shares of the time sum to one', () => {
  const { total, shares } = sharesOf({ ...none, compute: '1m', upload: '20s', waiting: '500ms' });
  expect(total).toBe(80.5);
  expect(shares.reduce((sum, s) => sum + s.share, 0)).toBeCloseTo(1);
  expect(sharesText(shares)).toBe('computing 75%, uploading 25%, waiting 1%');
});

test('a worker that did nothing yet has no shares', () => {
  const { total, shares } = sharesOf(none);
  expect(total).toBe(0);
  expect(sharesText(shares)).toBe('');
  expect(worstStall(shares)).toBeUndefined();
});

test('the worst stall is named; computing is none', () => {
  const { shares } = sharesOf({ ...none, compute: '10s', download: '3s', upload: '4s' });
  expect(worstStall(shares)?.text).toBe('uploading');
});

test('workers are in the order of their work', () => {
  const w = { steps: 0, lost: 0, rejected: 0, steps_per_second: 1, spent: none, codec: 'int8' };
  const rows = workerTimes([
    { ...w, worker: 'l10', units: 3 },
    { ...w, worker: 'l2', units: 3 },
    { ...w, worker: 'l3', units: 9 },
  ]);
  expect(rows.map((r) => r.lease)).toEqual(['l3', 'l2', 'l10']);
});
