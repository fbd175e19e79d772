import { expect, test } from 'vitest';
import type { Schemas } from '../../../api/client';
import { aJob } from '../testing';
import { draftOfJob, unsaid, yamlOfJob } from './of-job';

const train: Schemas['Train'] = {
  trainer: 'torch',
  config: { model: '"mlp"', hidden: '64', input: '[1,28,28]', classes: '10' },
  rule: '',
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
  shards: [
    { blob: 'ab', samples: 30_000 },
    { blob: 'cd', samples: 30_000 },
  ],
};
const input = (path: string, blob: string) => ({ path, blob, file: false, url: '', sha256: '' });
const batch: Schemas['Batch'] = { run: 'souk-torch', setup: '', network: 'none', retry: { on: ['lost'], max: 10 } };

test('a training as a job file, but for its data', () => {
  const job = aJob({ batch: { ...batch, train }, constraints: { packages: ['@torch'] } });
  expect(yamlOfJob(job)).toBe(`# Job j1. Not in this file:
#   its data: 60,000 samples in 2 shards, named by digests
name: mnist
kind: train
model: {name: mlp, hidden: 64}
epochs: 12
target: {accuracy: 0.98}
batch: 32
lr: {start: 0.02, end: 0.002}
codec: int8
class: c1
workers: 1..4
price: {limit: 2, budget: 10}
`);
});

test('a batch job with all its keys', () => {
  const job = aJob({
    kind: 'batch',
    name: '',
    priority: 5,
    constraints: { packages: ['@internet', 'numpy'], providers_refused: ['ec2'], regions: ['eu'] },
    batch: {
      ...batch,
      run: 'python3 x.py\n',
      outputs: ['out'],
      env: { A: '1' },
      network: 'internet',
      inputs: [
        input('data', 'ef'),
        { ...input('w.bin', ''), file: true, url: 'https://files.example/w.bin', sha256: 'ab' },
      ],
      checkpoint: { path: 'ckpt', every: '5m' },
      retry: { on: ['lost', 'failed'], max: 3 },
    },
  });
  expect(yamlOfJob(job)).toBe(`run: |
  python3 x.py
outputs: [out]
packages: [numpy]
class: c1
workers: 1..4
price: {limit: 2, budget: 10}
constraints: {providers_refused: [ec2], regions: [eu]}
inputs: [{path: data, blob: ef}, {path: w.bin, url: "https://files.example/w.bin", hash: ab, fetch: lender}]
env: {A: "1"}
checkpoint: {path: ckpt, every: 5m}
network: internet
retry: {on: [lost, failed], max: 3}
priority: 5
`);
});

test('what a file cannot say is said', () => {
  expect(unsaid(aJob())).toEqual(['it has no program of its own: its owner decides what runs on its leases']);
  expect(unsaid(aJob({ batch: { ...batch, workdir: 'ab' } }))).toEqual([
    'its working folder, named by a digest',
  ]);
});

test('what scripts get by themselves is not written', () => {
  const job = aJob({
    batch: {
      ...batch,
      train: { ...train, trainer: 'python', config: { width: '8' } },
      env: { PYTHONPATH: '/work/.souk/python', PYTHONDONTWRITEBYTECODE: '1' },
      inputs: [
        input('.souk/python', 'x'),
        { ...input('trainer.py', 'y'), file: true },
      ],
    },
  });
  expect(draftOfJob(job).rest).toEqual({ options: { width: 8 } });
});
