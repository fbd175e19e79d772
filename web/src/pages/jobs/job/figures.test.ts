import { expect, test } from 'vitest';
import { aboutFigure, figureText, otherMetrics } from './figures';

test('an accuracy that one owner alone measured is marked', () => {
  expect(aboutFigure({ confirmed: false })).toBe('not confirmed: measured by one owner alone');
  expect(aboutFigure({ target: 0.985, confirmed: false })).toBe(
    'target 98.5%, not confirmed: measured by one owner alone',
  );
});

test('one that two owners measured, or that is not final, is not', () => {
  expect(aboutFigure({ target: 0.985, confirmed: true })).toBe('target 98.5%');
  expect(aboutFigure({})).toBe('');
});

test('a target of something that is to be small says so', () => {
  expect(aboutFigure({ target: 2, figure: { name: 'rmse', below: true } })).toBe('target at most 2');
  expect(figureText('rmse', 1234.567)).toBe('1235');
  expect(figureText('accuracy', 0.9812)).toBe('98.12%');
});

test('what else was measured stands beside it, once', () => {
  const row = { epoch: 1, at: '1s', samples: 1, version: 1, loss: 1, validation_loss: 1, workers: 1 };
  const rows = [{ ...row, metrics: { mae: 3, rmse: 4 } }];
  expect(otherMetrics({ rows, figure: { name: 'rmse', below: true } })).toEqual([['mae', 3]]);
  expect(otherMetrics({ rows: [] })).toEqual([]);
});
