import { expect, test } from 'vitest';
import { aJob } from '../testing';
import { costPerPoint, differences, measured, together } from './settings';

const row = (epoch: number, accuracy: number) => ({
  epoch, accuracy, at: `${epoch}m30s`, samples: 0, version: 0, loss: 1, validation_loss: 1, mean: 0, low: 0, high: 0, workers: 1,
});

test('only settings that differ are told', () => {
  const found = differences([
    aJob({ id: 'j1', name: 'a', limit: 1 }),
    aJob({ id: 'j2', name: 'b', limit: 2, workers: { min: 1, max: 8 } }),
  ]);
  expect(found).toEqual([
    { key: 'workers', values: ['1..4', '1..8'] },
    { key: 'price.limit', values: ['1', '2'] },
  ]);
  expect(differences([aJob(), aJob()])).toEqual([]);
});

test('a setting that only one has is a difference', () => {
  const [first] = differences([aJob(), aJob({ deadline: '2027-01-01T00:00:00Z' })]);
  expect(first).toEqual({ key: 'deadline', values: [undefined, '2027-01-01T00:00:00Z'] });
});

test('credits for each point of accuracy', () => {
  expect(costPerPoint(0.98, 0.98)).toBeCloseTo(0.01);
  expect(costPerPoint(1, undefined)).toBeUndefined();
  expect(costPerPoint(1, 0)).toBeUndefined();
});

test('runs share one axis, by epoch or by minute', () => {
  const runs = [
    { label: 'a', rows: [row(1, 0.5), row(2, 0.6)] },
    { label: 'b', rows: [row(2, 0.7)] },
  ];
  expect(together(runs, 'epoch', (r) => r.accuracy)).toEqual({
    x: [1, 2],
    series: [
      { label: 'a', values: [0.5, 0.6] },
      { label: 'b', values: [null, 0.7] },
    ],
  });
  const byMinute = together(runs, 'minute', (r) => r.accuracy);
  expect(byMinute.x).toEqual([1.5, 2.5]);
  expect(byMinute.series[1]?.values).toEqual([null, 0.7]);
});

test('any metric of the runs can be compared, what they are judged by first', () => {
  const training = (name: string, metrics: Record<string, number>) =>
    ({ figure: { name, below: false }, rows: [{ ...row(1, 0.5), metrics }] }) as never;
  expect(measured([training('r2', { mae: 1, r2: 0.5 }), training('r2', { f1: 0.2, r2: 0.4 })])).toEqual([
    'r2', 'f1', 'mae',
  ]);
  expect(measured([])).toEqual([]);
});
