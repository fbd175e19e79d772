import { expect, test } from 'vitest';
import type { Schemas } from '../../../api/client';
import { axisOf, bestFirst, parallel, plain } from './parallel';

type Status = Schemas['SweepStatus'];

const trial = (number: number, lr: string, o: string, value?: number): Schemas['SweepTrial'] => ({
  number, job: `j${number}`, state: 'succeeded', parameters: { lr, o }, epoch: 3, spent: 1, reason: '', rungs: [],
  ...(value === undefined ? {} : { value }),
});

const status = (goal: 'maximize' | 'minimize'): Status => ({
  sweep: {
    of: 'train', method: 'random', trials: 4, parallel: 2, metric: 'score', goal, seed: 1, min_epochs: 1, eta: 3,
    parameters: { lr: { values: [], scale: 'log', low: 0.001, high: 0.1 }, o: { values: ['"sgd"', '"adam"'] } },
  },
  trials: [trial(1, '0.001', '"sgd"', 10), trial(2, '0.01', '"adam"', 30), trial(3, '0.1', '"sgd"', 20), trial(4, '0.1', '"adam"')],
  best: goal === 'maximize' ? 2 : 1,
  budget: 5, spent: 1, free: 4,
});

test('numbers stand by their size, on a logarithm where they were drawn so', () => {
  const axis = axisOf('lr', ['0.001', '0.1', '0.01'], true);
  expect(axis.place('0.01')).toBeCloseTo(0.5);
  expect(axis.marks.map((m) => m.text)).toEqual(['0.001', '0.1']);
  expect(axisOf('n', ['1', '3', '2'], false).place('2')).toBeCloseTo(0.5);
  expect(axisOf('n', ['7'], false).place('7')).toBe(0.5);
});

test('words stand one after the other, without quotes', () => {
  const axis = axisOf('o', ['"sgd"', '"adam"'], false);
  expect(axis.marks).toEqual([{ at: 0, text: 'adam' }, { at: 1, text: 'sgd' }]);
  expect(plain('"sgd"')).toBe('sgd');
  expect(plain('0.5')).toBe('0.5');
});

test('a line for each trial that reported, the best last, so that it is seen', () => {
  const { axes, lines } = parallel(status('maximize'));
  expect(axes.map((a) => a.name)).toEqual(['lr', 'o', 'score']);
  expect(lines.map((l) => l.trial.number)).toEqual([1, 3, 2]);
  expect(lines[2]).toMatchObject({ best: true, good: 1 });
  expect(lines[2]?.at.map((x) => Math.round(100 * x))).toEqual([50, 0, 100]);
  expect(parallel(status('minimize')).lines.map((l) => l.trial.number)).toEqual([2, 3, 1]);
});

test('the table has the best first and those without a figure last', () => {
  expect(bestFirst(status('maximize')).map((t) => t.number)).toEqual([2, 3, 1, 4]);
  expect(bestFirst(status('minimize')).map((t) => t.number)).toEqual([1, 3, 2, 4]);
});
