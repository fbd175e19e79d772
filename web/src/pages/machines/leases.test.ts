import { expect, test } from 'vitest';
import { earned, effectOf, isKnown, type Lease, type Machine, rate, stateOf, tally } from './leases';
import type { Offer } from './offers';

const kStart = '2026-01-01T00:00:00Z';
function lease(more: Partial<Lease>): Lease {
  return {
    id: 'l1', job: 'j1', offer: 'o1', machine: 'm1', borrower: 'bob', lender: 'ann', class: 'c1', slots: 1, epoch: 1,
    state: 'closed', price: 0.5, from: kStart, until: kStart, granted: kStart, started: kStart, paid: 0, earned: 0,
    ...more,
  };
}
function machine(more: Partial<Machine> = {}): Machine {
  const spec = {
    cores: 1, memory_mib: 1024, disk_mib: 0, gpus: 0, gpu_memory_mib: 0, gpu: '', cpu: 'a', os: '', region: '',
    provider: 'community', rtt_ms: 0,
  };
  return { id: 'm1', name: 'den', owner: 'ann', spec, reliability: 0.9, online: true, created: kStart, leases: 3, ...more };
}

test('what costs reliability and what regains it', () => {
  expect(effectOf(lease({ outcome: 'lost' }))).toBe('broken');
  expect(effectOf(lease({ outcome: 'unstarted', started: undefined }))).toBe('broken');
  for (const outcome of ['completed', 'failed', 'term', 'job'] as const) expect(effectOf(lease({ outcome }))).toBe('kept');
  expect(effectOf(lease({ outcome: 'released' }))).toBe('neither');
  expect(effectOf(lease({ outcome: 'job', started: undefined }))).toBe('neither');
  expect(effectOf(lease({ state: 'running' }))).toBeUndefined();
});

test('outcomes are counted, broken leases first', () => {
  const rows = tally([
    lease({ outcome: 'completed' }), lease({ outcome: 'released' }), lease({ outcome: 'completed' }),
    lease({ outcome: 'lost' }), lease({ state: 'running' }),
  ]);
  expect(rows.map((r) => [r.outcome, r.effect, r.count])).toEqual([
    ['lost', 'broken', 1], ['completed', 'kept', 2], ['released', 'neither', 1],
  ]);
});

test('what leases earned, and earn now', () => {
  const all = [lease({ earned: 1, state: 'running', slots: 2 }), lease({ earned: 0.5 }), lease({ state: 'granted' })];
  expect(earned(all)).toBe(1.5);
  expect(rate(all)).toBe(1);
});

test('one word for a machine', () => {
  const offer = (state: string, of = 'm1') => ({ machine: of, state }) as Offer;
  expect(stateOf(machine({ doubted: 'too slow' }), [offer('open')])).toBe('doubted');
  expect(stateOf(machine({ doubted: 'not tested yet', leases: 0 }), [])).toBe('being tested');
  expect(stateOf(machine({ doubted: 'too slow', leases: 0, core_speed: 1 }), [])).toBe('doubted');
  expect(stateOf(machine({ online: false }), [offer('offline')])).toBe('offline');
  expect(stateOf(machine(), [offer('paused'), offer('open'), offer('full', 'm2')])).toBe('open');
  expect(stateOf(machine(), [])).toBe('no offer');
  const fresh = machine({ spec: { ...machine().spec, cpu: '' } });
  expect(isKnown(fresh)).toBe(false);
  expect(stateOf(fresh, [])).toBe('waiting');
  expect(stateOf({ ...fresh, doubted: 'not tested yet' }, [])).toBe('waiting');
  expect(isKnown({ ...fresh, offers: ['o1'] })).toBe(true);
});
