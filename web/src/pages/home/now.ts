import type { Schemas } from '../../api/client';
import { seconds } from '../../format';

// What I spend and earn at this moment, and how long it lasts.

export type Job = Schemas['Job'];
type Lease = Schemas['Lease'];

const isBilled = (l: Lease) => l.state === 'running' || l.state === 'draining';
const perHour = (leases: Lease[]) => leases.filter(isBilled).reduce((sum, l) => sum + l.price * l.slots, 0);

export type Rates = { spends: number; earns: number };

export function ratesOf(leases: Lease[], me: string): Rates {
  return {
    spends: perHour(leases.filter((l) => l.borrower === me)),
    earns: perHour(leases.filter((l) => l.lender === me)),
  };
}

// Seconds until everything I have is spent, escrow included; none while nothing is.
export function balanceRunway(me: Schemas['Account'], rates: Rates): number | undefined {
  return rates.spends > 0 ? ((me.available + me.bonus + me.escrow) / rates.spends) * 3600 : undefined;
}

// The job whose escrow ends first.
export function shortestRunway(jobs: Job[]): { job: Job; seconds: number } | undefined {
  return jobs
    .flatMap((job) => (job.runway === undefined ? [] : [{ job, seconds: seconds(job.runway) }]))
    .sort((a, b) => a.seconds - b.seconds)[0];
}
