import { expect, test } from 'vitest';
import { aLease } from '../testing';
import { currentUse, gpuText, latestOfParts } from './usage';

const usage = {
  cpu_seconds: 10,
  memory_bytes: 1,
  memory_peak_bytes: 2,
  scratch_bytes: 3,
  received_bytes: 4,
  sent_bytes: 5,
};

test('cores in use come from the last two samples', () => {
  const used = currentUse({
    lease: 'l1',
    samples: [
      { at: '2026-01-01T12:00:00Z', usage },
      { at: '2026-01-01T12:00:10Z', usage: { ...usage, cpu_seconds: 25, memory_bytes: 9 } },
    ],
  });
  expect(used).toMatchObject({ lease: 'l1', cores: 1.5, memory: 9, peak: 2 });
});

test('GPUs in use come from the last two samples, where machines have any', () => {
  const gpu = (gpu_seconds: number) => ({ ...usage, gpu_seconds, gpu_memory_bytes: 2 ** 31 });
  const used = currentUse({
    lease: 'l1',
    samples: [
      { at: '2026-01-01T12:00:00Z', usage: gpu(3) },
      { at: '2026-01-01T12:00:10Z', usage: gpu(18) },
    ],
  });
  expect(used && gpuText(used)).toBe('1.5, 2.0 GiB');
  const none = currentUse({ lease: 'l1', samples: [{ at: '2026-01-01T12:00:00Z', usage }] });
  expect(none && gpuText(none)).toBe('–');
});

test('one sample says nothing of the pace, none says nothing', () => {
  expect(currentUse({ lease: 'l1', samples: [{ at: '2026-01-01T12:00:00Z', usage }] })?.cores).toBe(0);
  expect(currentUse({ lease: 'l1', samples: [] })).toBeUndefined();
});

test('the latest lease of a worker counts', () => {
  const leases = [
    aLease({ id: 'l3', part: 0, granted: '2026-01-01T12:05:00Z' }),
    aLease({ id: 'l1', part: 0 }),
    aLease({ id: 'l2', part: 1 }),
    aLease({ id: 'l9' }),
  ];
  expect([...latestOfParts(leases)].map(([part, l]) => [part, l.id])).toEqual([
    [0, 'l3'],
    [1, 'l2'],
  ]);
});
