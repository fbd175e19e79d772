import { expect, test } from 'vitest';
import { totalUse } from './total-use';

const usage = { memory_peak_bytes: 0, scratch_bytes: 0, received_bytes: 0, sent_bytes: 0 };
const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const sample = (second: number, cpu_seconds: number, memory_bytes: number) => ({
  at: at(second), usage: { ...usage, cpu_seconds, memory_bytes },
});
const kStart = Date.parse(at(0)) / 1000;

test('cores are processor time over time, and the first sample has the pace of the next', () => {
  const used = totalUse([{ lease: 'l1', samples: [sample(0, 1, 10), sample(10, 6, 20), sample(20, 26, 15)] }]);
  expect(used.at).toEqual([kStart, kStart + 10, kStart + 20]);
  expect(used.cores).toEqual([0.5, 0.5, 2]);
  expect(used.memory).toEqual([10, 20, 15]);
});

test('leases sampled at different times add up, each with what it said last', () => {
  const used = totalUse([
    { lease: 'l1', samples: [sample(0, 0, 10), sample(10, 10, 10)] },
    { lease: 'l2', samples: [sample(5, 0, 100), sample(10, 10, 200), sample(15, 15, 300)] },
  ]);
  expect(used.at.map((t) => t - kStart)).toEqual([0, 5, 10, 15]);
  expect(used.cores).toEqual([1, 3, 3, 2]);
  expect(used.memory).toEqual([10, 110, 210, 310]);
});

test('a program that said nothing, or once, uses no cores yet', () => {
  expect(totalUse([])).toEqual({ at: [], cores: [], memory: [] });
  expect(totalUse([{ lease: 'l1' }]).at).toEqual([]);
  expect(totalUse([{ lease: 'l1', samples: [sample(0, 5, 10)] }])).toMatchObject({ cores: [0], memory: [10] });
});
