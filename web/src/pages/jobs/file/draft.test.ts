import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Draft, mapOf, noDraft, toYaml } from './draft';
import { draftOf, fromYaml } from './draft-read';
import { readYaml } from './yaml-read';

const read = (text: string): Draft => {
  const out = fromYaml(text);
  if ('error' in out) throw new Error(out.error);
  return out.draft;
};

const folder = '../examples';
const examples = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

test.each(examples)('the example %s is followed, and written back with the same meaning', (name) => {
  const text = readFileSync(`${folder}/${name}`, 'utf8');
  const draft = read(text);
  expect(mapOf(draft)).toEqual(readYaml(text));
  expect(read(toYaml(draft))).toEqual(draft);
});

test('a form becomes a job file', () => {
  const draft: Draft = {
    ...noDraft,
    name: 'digits',
    model: 'mlp',
    modelOptions: { hidden: 64 },
    data: 'mnist',
    epochs: 5,
    target: 0.97,
    lr: 0.05,
    lrEnd: 0.005,
    least: 1,
    most: 4,
    limit: 1.5,
    budget: 6,
    deadline: '2h',
    minReliability: 0.9,
  };
  expect(toYaml(draft)).toBe(`name: digits
kind: train
model: {name: mlp, hidden: 64}
data: mnist
epochs: 5
target: {accuracy: 0.97}
lr: {start: 0.05, end: 0.005}
workers: 1..4
price: {limit: 1.5, budget: 6}
deadline: 2h
constraints: {min_reliability: 0.9}
`);
});

test('a batch job has nothing of a training left over', () => {
  const draft: Draft = {
    ...noDraft,
    kind: 'batch',
    model: 'lenet',
    epochs: 3,
    run: 'python3 x.py',
    workdir: '.',
    outputs: ['out'],
    least: 2,
    most: 2,
    class: 'c2',
    cores: 8,
  };
  expect(toYaml(draft)).toBe('run: python3 x.py\nworkdir: .\noutputs: [out]\nclass: c2\nworkers: 2\n');
});

test('a training may name several classes', () => {
  const draft: Draft = { ...noDraft, model: 'lenet', class: 'c1', also: ['c4', 'g1'] };
  expect(toYaml(draft)).toBe('kind: train\nmodel: lenet\nclass: [c1, c4, g1]\n');
  expect(fromYaml(toYaml(draft))).toEqual({ draft });
});

test('what the form does not show stays in the file', () => {
  const text = `run: x
env: {A: 1}
checkpoint: {path: ckpt, every: 5m}
constraints: {regions: [eu], providers_refused: [ec2]}
retry: {on: [lost, failed], max: 3}
`;
  const draft = read(text);
  expect(Object.keys(draft.rest)).toEqual(['env', 'checkpoint', 'retry', 'constraints']);
  expect(mapOf({ ...draft, minReliability: 0.8 })).toEqual({
    run: 'x',
    env: { A: 1 },
    checkpoint: { path: 'ckpt', every: '5m' },
    retry: { on: ['lost', 'failed'], max: 3 },
    constraints: { regions: ['eu'], providers_refused: ['ec2'], min_reliability: 0.8 },
  });
});

test('a value the form cannot show is kept until the form says otherwise', () => {
  const draft = draftOf({ kind: 'train', lr: { start: 0.1, warmup: 3 }, workers: 'many', model: ['a'] });
  expect(draft.rest).toEqual({ lr: { start: 0.1, warmup: 3 }, workers: 'many', model: ['a'] });
  expect(mapOf(draft)).toEqual({
    kind: 'train',
    lr: { start: 0.1, warmup: 3 },
    workers: 'many',
    model: ['a'],
  });
  expect(mapOf({ ...draft, least: 1, most: 2, lr: 0.2 })).toMatchObject({ workers: '1..2', lr: 0.2 });
});

test('spellings of the same', () => {
  const draft = read('workers: 3\nresources: {cores: 2.., memory: 4G..}\n');
  expect([draft.least, draft.most, draft.cores, draft.memory]).toEqual([3, 3, 2, '4G']);
});

test('data of one file or several', () => {
  const draft = read('kind: train\ndata: {format: idx, train: [images, labels], test: t.csv}\n');
  expect(draft.dataFiles).toEqual({ format: 'idx', train: ['images', 'labels'], test: ['t.csv'], label: '' });
  expect(mapOf(draft)['data']).toEqual({ format: 'idx', train: ['images', 'labels'], test: 't.csv' });
});

test('YAML that is not followed is said to be so', () => {
  expect(fromYaml('a: &x 1\n')).toEqual({ error: "line 1: '&' is YAML that this form cannot read" });
});
