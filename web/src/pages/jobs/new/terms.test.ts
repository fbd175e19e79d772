import { expect, test } from 'vitest';
import { noDraft } from '../file/draft';
import {
  dearestClass,
  deadlineOf,
  lasts,
  likelyBudget,
  likelyClass,
  likelyLimit,
  needsProblems,
  parseMemory,
  priceProblems,
  shownProblems,
  whatProblems,
} from './terms';

const slot = (name: string, cores: number, memory_mib: number, gpus = 0) => ({
  name,
  cores,
  memory_mib,
  gpus,
  gpu_memory_mib: gpus * 16_384,
  price: 0.2,
  suggested: 0.25,
  mechanism: 'k-double',
  retired: false,
  leased: 0,
  wanted: 0,
  in_force: 'k-double', offered: 0,
});
const classes = [slot('g1', 4, 16_384, 1), slot('c1', 1, 1_024), slot('c2', 2, 4_096), slot('c4', 4, 8_192)];
const now = Date.parse('2026-01-01T12:00:00Z');

test('memory as people write it', () => {
  expect(parseMemory('4G')).toBe(4096);
  expect(parseMemory('512M')).toBe(512);
  expect(parseMemory('1.5 GiB')).toBe(1536);
  expect(parseMemory('4')).toBeUndefined();
  expect(parseMemory('lots')).toBeUndefined();
});

test('the smallest class that has what is needed', () => {
  expect(likelyClass(noDraft, classes)?.name).toBe('c1');
  expect(likelyClass({ ...noDraft, memory: '2G' }, classes)?.name).toBe('c2');
  expect(likelyClass({ ...noDraft, cores: 3 }, classes)?.name).toBe('c4');
  expect(likelyClass({ ...noDraft, gpus: 1 }, classes)?.name).toBe('g1');
  expect(likelyClass({ ...noDraft, class: 'c4', cores: 64 }, classes)?.name).toBe('c4');
  expect(likelyClass({ ...noDraft, cores: 64 }, classes)).toBeUndefined();
});

test('without a price: twice the suggested, for an hour of all workers', () => {
  const draft = { ...noDraft, most: 4 as const };
  expect(likelyLimit(draft, classes[1])).toBe(0.5);
  expect(likelyBudget(draft, classes[1], 100)).toBe(2);
  expect(likelyBudget(draft, classes[1], 1)).toBe(1);
  expect(lasts(draft, classes[1], 100)).toBe(3_600);
  expect(lasts({ ...draft, budget: 1 }, classes[1], 100)).toBe(1_800);
});

test('the limit follows the dearest class that it may be in', () => {
  const dear = classes.map((c) => (c.name === 'c4' ? { ...c, suggested: 3 } : c));
  expect(dearestClass({ ...noDraft, class: 'c1' }, dear)?.name).toBe('c1');
  expect(dearestClass({ ...noDraft, class: 'c1', also: ['c2', 'c4'] }, dear)?.name).toBe('c4');
});

test('deadlines are lengths of time or moments', () => {
  expect(deadlineOf('90m', now)).toBe(now + 5_400_000);
  expect(deadlineOf('2026-01-02T00:00:00Z', now)).toBe(now + 12 * 3_600_000);
  expect(deadlineOf('tomorrow', now)).toBeUndefined();
});

test('what is missing is said before the next step', () => {
  expect(whatProblems(noDraft)).toEqual({ model: 'choose a model', data: 'choose the data to train on' });
  expect(whatProblems({ ...noDraft, model: 'lenet', data: 'mnist' })).toEqual({});
  expect(whatProblems({ ...noDraft, kind: 'batch' })).toHaveProperty('run');
  expect(needsProblems({ ...noDraft, least: 4, most: 2 }, classes)).toHaveProperty('most');
  expect(needsProblems({ ...noDraft, cores: 64 }, classes)).toHaveProperty('cores');
  expect(needsProblems(noDraft, classes)).toEqual({});
  expect(priceProblems({ ...noDraft, budget: 0, deadline: 'soon' }, now)).toEqual({
    budget: 'more than 0',
    deadline: 'such as 3h, or 2027-03-01T22:00:00Z',
  });
  expect(priceProblems({ ...noDraft, deadline: '2025-01-01T00:00:00Z' }, now)).toEqual({
    deadline: 'this time has passed',
  });
  // Who has no credits can plan all the same.
  expect(priceProblems({ ...noDraft, budget: 5_000 }, now)).toEqual({});
});

test('numbers that nobody can mean are said at their fields', () => {
  const trained = { ...noDraft, model: 'lenet', data: 'mnist' };
  expect(whatProblems({ ...trained, target: 99.9 })).toHaveProperty('target');
  expect(whatProblems({ ...trained, target: 0.999 })).toEqual({});
  expect(whatProblems({ ...trained, epochs: 0 })).toHaveProperty('epochs');
  expect(whatProblems({ ...trained, batch: 1.5 })).toHaveProperty('batch');
  expect(needsProblems({ ...noDraft, most: 20_000 }, classes)).toEqual({ most: 'at most 10,000' });
  expect(needsProblems({ ...noDraft, class: 'c9' }, classes).class).toContain('there is no class c9');
});

test('what is only missing waits until somebody wants to go on', () => {
  const problems = whatProblems({ ...noDraft, epochs: 0 });
  expect(Object.keys(shownProblems(problems, false))).toEqual(['epochs']);
  expect(Object.keys(shownProblems(problems, true)).sort()).toEqual(['data', 'epochs', 'model']);
});
