import type { Schemas } from '../../api/client';

// Jobs and leases for tests, with what matters given.

export function aJob(given: Partial<Schemas['Job']> = {}): Schemas['Job'] {
  return {
    id: 'j1',
    name: 'mnist',
    kind: 'train',
    owner: 'ann',
    class: 'c1',
    workers: { min: 1, max: 4 },
    limit: 2,
    budget: 10,
    spent: 0,
    escrow: 10,
    priority: 0,
    constraints: {},
    state: 'running',
    reason: '',
    held: 2,
    done: 0,
    low: false,
    created: '2026-01-01T12:00:00Z',
    ...given,
  };
}

export function aLease(given: Partial<Schemas['Lease']> = {}): Schemas['Lease'] {
  return {
    id: 'l1',
    job: 'j1',
    offer: 'o1',
    machine: 'm1',
    borrower: 'ann',
    lender: 'bob',
    class: 'c1',
    slots: 1,
    epoch: 1,
    state: 'running',
    price: 0.5,
    from: '2026-01-01T12:00:00Z',
    until: '2026-01-01T13:00:00Z',
    granted: '2026-01-01T12:00:00Z',
    paid: 0,
    earned: 0,
    ...given,
  };
}
