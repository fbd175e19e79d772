import { expect, test } from 'vitest';
import type { Schemas } from '../../../api/client';
import { isMeasured, measuredJob } from './measure';

const spent = {
  compute: '0',
  checking: '0',
  prepare: '0',
  fetch: '0',
  download: '0',
  upload: '0',
  waiting: '0',
};
const training = (
  elapsed: string,
  units: number,
  state: Schemas['TrainingState'] = 'training',
): Schemas['Training'] => ({
  state,
  reason: '',
  rule: '',
  epoch: 1,
  epochs: 1,
  progress: 0,
  version: 1,
  samples: 0,
  loss: 0,
  elapsed,
  workers: 1,
  wasted_steps: 0,
  useful_steps: 0,
  bytes_in: 0,
  bytes_out: 0,
  folds: 0,
  folding: '0',
  spent,
  by_worker: [{ worker: 'l1', units, steps: 1, lost: 0, rejected: 0, steps_per_second: 1, spent, codec: 'fp32' }],
});

test('it is measured after five units and a quarter of a minute, or a minute, or the end', () => {
  expect(isMeasured(training('14s', 50))).toBe(false);
  expect(isMeasured(training('16s', 4))).toBe(false);
  expect(isMeasured(training('16s', 5))).toBe(true);
  expect(isMeasured(training('1m1s', 0))).toBe(true);
  expect(isMeasured(training('2s', 1, 'finished'))).toBe(true);
});

test('what measures is one worker and one pass, without a target or a deadline', () => {
  const train: Schemas['Train'] = {
    trainer: 'torch',
    rule: '',
    codec: 'fp32',
    replicate: 0,
    epochs: 12,
    target: { accuracy: 0.9 },
    batch: 32,
    lr: 0.1,
    local_batch: 8,
    local_steps: 0,
    validations: 1,
    seed: 1,
    measure: false,
  };
  const job: Schemas['NewJob'] = {
    name: 'a name of forty characters, more or less',
    kind: 'train',
    workers: { min: 2, max: 8 },
    budget: 1,
    priority: 0,
    deadline: '2026-01-01T12:00:00Z',
    batch: { run: 'souk-torch', setup: '', network: 'none', train },
  };
  const out = measuredJob(job);
  expect(out.workers).toEqual({ min: 1, max: 1 });
  expect(out.name.length).toBeLessThanOrEqual(40);
  expect(out).not.toHaveProperty('deadline');
  expect(out.batch?.train).toMatchObject({ epochs: 1, batch: 32, measure: true });
  expect(out.batch?.train).not.toHaveProperty('target');
});
