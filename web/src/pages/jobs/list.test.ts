import { expect, test } from 'vitest';
import { countStates, matching, partsDone, spentShare, workersText } from './list';
import { aJob } from './testing';

test('a search looks at names, ids and classes, whatever the order of words', () => {
  const jobs = [aJob({ id: 'j1', name: 'mnist sweep' }), aJob({ id: 'j2', name: 'Text', class: 'g1' })];
  expect(matching(jobs, '').length).toBe(2);
  expect(matching(jobs, 'sweep MNIST').map((j) => j.id)).toEqual(['j1']);
  expect(matching(jobs, 'g1 text').map((j) => j.id)).toEqual(['j2']);
  expect(matching(jobs, 'j2').map((j) => j.id)).toEqual(['j2']);
  expect(matching(jobs, 'nothing')).toEqual([]);
});

test('a thousand jobs are searched while somebody types', () => {
  const jobs = Array.from({ length: 10_000 }, (_, i) => aJob({ id: `j${i}`, name: `job number ${i}` }));
  expect(matching(jobs, 'number 999').length).toBe(19);
});

test('states are counted', () => {
  const counts = countStates([aJob(), aJob(), aJob({ state: 'failed' })]);
  expect(counts.get('running')).toBe(2);
  expect(counts.get('failed')).toBe(1);
});

test('progress of a batch job is its finished workers; of a training it is not known here', () => {
  expect(partsDone(aJob({ kind: 'batch', done: 1 }))).toBe(0.25);
  expect(partsDone(aJob({ kind: 'train' }))).toBeUndefined();
  expect(partsDone(aJob({ kind: 'train', state: 'succeeded' }))).toBe(1);
});

test('spending never shows as more than the cap', () => {
  expect(spentShare(aJob({ spent: 2.5, budget: 10 }))).toBe(0.25);
  expect(spentShare(aJob({ spent: 11, budget: 10 }))).toBe(1);
  expect(spentShare(aJob({ spent: 0, budget: 0 }))).toBe(0);
});

test('workers in words', () => {
  expect(workersText(aJob())).toBe('2 of 1 to 4');
  expect(workersText(aJob({ workers: { min: 3, max: 3 } }))).toBe('2 of 3');
  expect(workersText(aJob({ ended: '2026-01-01T13:00:00Z' }))).toBe('1 to 4');
});
