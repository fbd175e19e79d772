import { expect, test } from 'vitest';
import type { Schemas } from '../../../api/client';
import { figureCurve, follow, hasRange, lossCurve } from './curves';

const spent = {
  compute: '0',
  checking: '0',
  prepare: '0',
  fetch: '0',
  download: '0',
  upload: '0',
  waiting: '0',
};
const training = (given: Partial<Schemas['Training']>): Schemas['Training'] => ({
  state: 'training',
  reason: '',
  rule: 'delayed-nesterov',
  epoch: 1,
  epochs: 10,
  progress: 0.05,
  version: 1,
  samples: 0,
  loss: 2.3,
  elapsed: '1s',
  workers: 1,
  wasted_steps: 0,
  useful_steps: 0,
  bytes_in: 0,
  bytes_out: 0,
  folds: 0,
  folding: '0',
  spent,
  ...given,
});
const row = (epoch: number, given: Partial<Schemas['TrainRow']> = {}): Schemas['TrainRow'] => ({
  epoch,
  at: '1m',
  samples: 1,
  version: 1,
  loss: 1 / epoch,
  validation_loss: 1.1 / epoch,
  accuracy: 0.9,
  mean: 0.88,
  low: 0.86,
  high: 0.91,
  workers: 2,
  ...given,
});

test('the trail grows as the training moves, and only then', () => {
  let trail = follow([], training({}));
  trail = follow(trail, training({}));
  expect(trail).toEqual([{ at: 0.5, loss: 2.3 }]);
  trail = follow(trail, training({ progress: 0.06, loss: 2.1 }));
  expect(trail.length).toBe(2);
  expect(follow(trail, training({ state: 'finished', progress: 1 }))).toBe(trail);
});

test('a training that goes back to a snapshot begins a new trail', () => {
  const trail = [
    { at: 1, loss: 2 },
    { at: 2, loss: 1 },
  ];
  expect(follow(trail, training({ progress: 0.15, loss: 1.4 }))).toEqual([{ at: 1.5, loss: 1.4 }]);
});

test('days of training keep a bounded trail', () => {
  let trail = follow([], training({}));
  for (let i = 0; i < 5_000; ++i) trail = follow(trail, training({ progress: 0.05 + i * 1e-4 }));
  expect(trail.length).toBeLessThanOrEqual(2_000);
});

test('epochs and the trail share one axis, in order', () => {
  const c = lossCurve(
    [row(1), row(2)],
    [
      { at: 0.5, loss: 2 },
      { at: 1.5, loss: 0.8 },
    ],
  );
  expect(c.x).toEqual([0.5, 1, 1.5, 2]);
  expect(c.series.map((s) => s.label)).toEqual(['training loss', 'validation loss', 'latest batches']);
  expect(c.series[0]?.values).toEqual([null, 1, null, 0.5]);
  expect(c.series[2]?.values).toEqual([2, null, 0.8, null]);
});

test('the band of an epoch lies between its lowest and highest check', () => {
  const c = figureCurve([row(1), row(2)], 'accuracy', 0.98);
  const [upper, lower] = c.bands?.[0] ?? [-1, -1];
  expect(c.series[upper]?.values).toEqual([0.91, 0.91]);
  expect(c.series[lower]?.values).toEqual([0.86, 0.86]);
  expect(c.series.at(-1)?.values).toEqual([0.98, 0.98]);
  expect(hasRange([row(1)])).toBe(true);
  expect(hasRange([row(1, { low: 0.9, high: 0.9 })])).toBe(false);
});

test('any figure has its curve, with gaps where it was not measured', () => {
  const c = figureCurve([row(1, { metrics: { rmse: 4 } }), row(2)], 'rmse', 2);
  expect(c.series[0]).toEqual({ label: 'rmse', values: [4, null] });
  expect(c.series.at(-1)?.values).toEqual([2, 2]);
  expect(figureCurve([row(2)], 'loss').series[0]?.values).toEqual([0.55]);
});
