import { expect, test } from 'vitest';
import type { Schemas } from '../../../api/client';
import { draftOfJob } from '../file/of-job';
import { aJob } from '../testing';
import { beginClone, cloneOf } from './clone';

const now = Date.parse('2026-01-01T12:00:00Z');
const train: Schemas['Train'] = {
  trainer: 'torch',
  config: { model: '"lenet"', input: '[1,28,28]' },
  rule: 'fedbuff',
  rule_params: { buffer: 4 },
  codec: 'int8',
  replicate: 0,
  epochs: 12,
  target: { accuracy: 0.98 },
  batch: 32,
  lr: 0.02,
  lr_end: 0.002,
  local_batch: 8,
  local_steps: 0,
  validations: 1,
  seed: 1,
  measure: false,
  shards: [{ blob: 'ab', samples: 60_000 }],
};
const job = aJob({
  deadline: '2025-12-31T12:00:00Z',
  priority: 3,
  ended: '2026-01-01T11:00:00Z',
  result: 'ff',
  constraints: { packages: ['@torch', 'numpy'], min_reliability: 0.9, providers_refused: ['ec2'] },
  batch: { run: 'souk-torch', setup: '', network: 'none', train },
});

test('a copy that nobody changed is the job itself', () => {
  const draft = draftOfJob(job);
  expect(cloneOf(job, { ...draft, deadline: '2h' }, 10, now)).toEqual({
    name: 'mnist',
    kind: 'train',
    class: 'c1',
    workers: { min: 1, max: 4 },
    limit: 2,
    budget: 10,
    priority: 3,
    deadline: '2026-01-01T14:00:00.000Z',
    constraints: {
      packages: ['numpy'],
      regions: [],
      lenders_allowed: [],
      lenders_refused: [],
      min_reliability: 0.9,
      providers_refused: ['ec2'],
    },
    batch: job.batch,
  });
});

test('what the form changes is changed, the data stays', () => {
  const draft = {
    ...draftOfJob(job),
    deadline: '',
    rule: 'fedavg',
    ruleOptions: {},
    codec: '',
    epochs: 3,
    target: '' as const,
    lrEnd: '' as const,
    minReliability: '' as const,
    class: '',
    cores: 2,
    memory: '4G',
  };
  const copy = cloneOf(job, draft, 5, now);
  expect(copy.batch?.train).toMatchObject({
    rule: 'fedavg',
    rule_params: {},
    codec: 'auto',
    epochs: 3,
    lr: 0.02,
    shards: train.shards,
  });
  expect(copy.batch?.train).not.toHaveProperty('target');
  expect(copy.batch?.train).not.toHaveProperty('lr_end');
  expect(copy.constraints).not.toHaveProperty('min_reliability');
  expect(copy).not.toHaveProperty('class');
  expect(copy.resources).toEqual({ cores: 2, memory_mib: 4096, gpus: 0, gpu_memory_mib: 0 });
});

test('what does not come with it is said', () => {
  const begun = beginClone(job, draftOfJob(job), now, 'c4');
  expect(begun.draft.deadline).toBe('');
  expect(begun.draft.class).toBe('c4');
  expect(begun.lost).toEqual([
    'its deadline, which has passed',
    'its model and files: the copy starts from the beginning',
  ]);
});
