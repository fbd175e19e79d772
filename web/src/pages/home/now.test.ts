import { expect, test } from 'vitest';
import type { Schemas } from '../../api/client';
import { balanceRunway, type Job, ratesOf, shortestRunway } from './now';

const lease = (borrower: string, lender: string, state: string) =>
  ({ borrower, lender, state, price: 0.5, slots: 2 }) as Schemas['Lease'];

test('what is paid and earned each hour, while programs run', () => {
  const leases = [lease('ann', 'bob', 'running'), lease('bob', 'ann', 'draining'), lease('ann', 'bob', 'granted'), lease('bob', 'cat', 'running')];
  expect(ratesOf(leases, 'ann')).toEqual({ spends: 1, earns: 1 });
});

test('how long a balance lasts', () => {
  const me = { available: 6, bonus: 2, escrow: 2 } as Schemas['Account'];
  expect(balanceRunway(me, { spends: 5, earns: 0 })).toBe(7200);
  expect(balanceRunway(me, { spends: 0, earns: 3 })).toBeUndefined();
});

test('the job whose escrow ends first', () => {
  const jobs = [{ id: 'j1', runway: '2h' }, { id: 'j2', runway: '30m' }, { id: 'j3' }] as Job[];
  expect(shortestRunway(jobs)?.job.id).toBe('j2');
  expect(shortestRunway(jobs)?.seconds).toBe(1800);
  expect(shortestRunway([])).toBeUndefined();
});
