import { expect, test } from 'vitest';
import { demandOf } from './demand';
import { noState, step, yamlOf } from './use-draft';

test('renting a machine asks for its class and its lender, whatever is picked', () => {
  const demand = demandOf(new URLSearchParams('class=c4&lender=lena&price=0.3'));
  expect(demand).toMatchObject({ class: 'c4', lenders: ['lena'], limit: 0.3, cores: '' });
  expect(demandOf(new URLSearchParams('class=c4'))).toBeUndefined();
  let state = { ...noState, demand: demand ?? {} };
  state = step(state, { do: 'sample', sample: { name: 's', title: 's', about: '', yaml: 'run: ls\nresources: {cores: 2}\n' } as never });
  expect(state.draft.run).toBe('ls');
  expect(yamlOf(state)).toContain('class: c4');
  expect(yamlOf(state)).toContain('lena');
  expect(yamlOf(state)).not.toContain('cores');
  state = step(state, { do: 'source', source: 'model' });
  expect(state.draft.class).toBe('c4');
});
