import { expect, test } from 'vitest';
import { cheapestFirst, needsFiles, noState, step, yamlOf } from './use-draft';

const sample = {
  name: 'mnist',
  title: '',
  description: '',
  yaml: '# A comment\nname: mnist\nkind: train\nmodel: lenet\ndata: mnist\nworkers: 1..4\n',
};

test('a sample fills the form, and its text stays until the form changes it', () => {
  let state = step(noState, { do: 'sample', sample });
  expect(state.draft.model).toBe('lenet');
  expect(yamlOf(state)).toBe(sample.yaml);
  state = step(state, { do: 'edit', change: { most: 2 } });
  expect(yamlOf(state)).toBe('name: mnist\nkind: train\nmodel: lenet\ndata: mnist\nworkers: 1..2\n');
});

test('a text that somebody writes fills the form', () => {
  const state = step(noState, { do: 'write', text: 'run: echo hi\nworkers: 3\n' });
  expect(state.source).toBe('file');
  expect(state.draft).toMatchObject({ kind: 'batch', run: 'echo hi', least: 3, most: 3 });
});

test('a text that the form cannot follow is used as it is', () => {
  const state = step(noState, { do: 'write', text: 'run: &x echo\n' });
  expect(state.unread).toContain('line 1');
  expect(yamlOf(state)).toBe('run: &x echo\n');
  const fixed = step(state, { do: 'write', text: 'run: echo\n' });
  expect(fixed.unread).toBe('');
});

test('another beginning leaves nothing of the one before, but a file keeps it all', () => {
  const state = step(noState, { do: 'sample', sample });
  expect(step(state, { do: 'source', source: 'own' }).draft.model).toBe('');
  expect(yamlOf(step(state, { do: 'source', source: 'file' }))).toBe(sample.yaml);
  expect(step(state, { do: 'source', source: 'sample' })).toBe(state);
});

test('which jobs need files', () => {
  expect(needsFiles(step(noState, { do: 'sample', sample }).draft)).toBe(false);
  for (const text of ['script: a.py', 'workdir: .', 'data: {format: csv, train: x.csv}', 'inputs: [data]'])
    expect(needsFiles(step(noState, { do: 'write', text }).draft), text).toBe(true);
});

test('samples begin with those that set aside least', () => {
  const one = (name: string, yaml: string) => ({ name, title: '', description: '', yaml });
  const samples = [
    one('a', 'price: {budget: 9}'),
    one('b', 'run: x'),
    one('c', 'price: {budget: 1}'),
    one('d', '&'),
  ];
  expect(cheapestFirst(samples).map((s) => s.name)).toEqual(['c', 'a', 'b', 'd']);
});

test('before anything was picked there is no job file', () => {
  expect(yamlOf(noState)).toBe('');
  expect(yamlOf(step(noState, { do: 'source', source: 'model' }))).toContain('model: lenet');
});
