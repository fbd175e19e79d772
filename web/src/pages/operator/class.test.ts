import { expect, test } from 'vitest';
import { editFrom, editOf, formOf, newClass, switched, withTrial } from './class';

const c4 = {
  name: 'c4', cores: 4, memory_mib: 8192, gpus: 0, gpu_memory_mib: 0, price: 0.8, suggested: 0.9,
  mechanism: 'k-double', params: { kappa: '0.25' }, retired: false, leased: 3, wanted: 1,
  trial: { mechanism: 'posted', params: {}, slice: '1h' }, in_force: 'posted', offered: 0,
};

test('an edit keeps what the form does not show', () => {
  const edit = editFrom({ ...formOf(c4), price: 1 }, c4);
  expect(edit).toEqual({ ...editOf(c4), price: 1 });
  expect(edit.trial).toEqual(c4.trial);
  expect(edit).not.toHaveProperty('suggested');
});

test('memory goes over the wire in MiB', () => {
  expect(editFrom({ ...newClass, name: 'half', memory: 0.5, gpuMemory: 8 })).toMatchObject({
    memory_mib: 512, gpu_memory_mib: 0, mechanism: 'vickrey',
  });
});

test('a switch keeps the trial, and a trial the mechanism', () => {
  expect(switched(c4, { mechanism: 'mcafee', params: {} })).toMatchObject({ mechanism: 'mcafee', params: {}, trial: c4.trial });
  expect(withTrial(c4, undefined)).not.toHaveProperty('trial');
  expect(withTrial(c4, { mechanism: 'tpd', params: {}, slice: '2h' })).toMatchObject({
    mechanism: 'k-double', trial: { mechanism: 'tpd', slice: '2h' },
  });
});
