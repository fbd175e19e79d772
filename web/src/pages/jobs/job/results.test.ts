import { expect, test } from 'vitest';
import { fileUrl, inOrder, modelOf } from './results';

const files = [
  { path: 'out/a b.txt', bytes: 1, part: 1 },
  { path: 'metrics.csv', bytes: 1 },
  { path: 'out/z', bytes: 1, part: 0 },
  { path: 'model.safetensors', bytes: 9 },
];

test('the model comes first', () => {
  expect(modelOf(files)?.bytes).toBe(9);
  expect(inOrder(files).map((f) => f.path)).toEqual([
    'model.safetensors',
    'metrics.csv',
    'out/z',
    'out/a b.txt',
  ]);
  expect(modelOf([{ path: 'model.safetensors', bytes: 1, part: 0 }])).toBeUndefined();
});

test('a file of a worker has its address', () => {
  expect(fileUrl('j1', { path: 'out/a b.txt', part: 1 })).toBe('/v1/jobs/j1/file?path=out%2Fa+b.txt&part=1');
  expect(fileUrl('j1', { path: 'metrics.csv' })).toBe('/v1/jobs/j1/file?path=metrics.csv');
});
