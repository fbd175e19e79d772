import type { Schemas } from '../../api/client';
import type { State } from '../../parts/state-badge';

// What became of a machine's leases, and what that says of its reliability (market/types.h).

export type Lease = Schemas['Lease'];
export type Machine = Schemas['Machine'];
type Effect = 'kept' | 'broken' | 'neither';

export function effectOf(lease: Lease): Effect | undefined {
  if (lease.outcome === undefined) return undefined; // Still open.
  if (lease.outcome === 'lost' || lease.outcome === 'unstarted') return 'broken';
  return lease.started !== undefined && lease.outcome !== 'released' ? 'kept' : 'neither';
}

const kWords: Record<Schemas['LeaseOutcome'], string> = {
  none: 'still open',
  completed: 'the program ended well',
  failed: 'the program failed, which is not the machine’s fault',
  released: 'given back with notice',
  term: 'ran to the end of its term',
  lost: 'the machine stopped responding',
  unstarted: 'the machine did not start the program',
  job: 'the job ended or paused',
};

export type Tally = { outcome: Schemas['LeaseOutcome']; words: string; effect: Effect; count: number };

// By outcome, those that cost reliability first.
export function tally(leases: Lease[]): Tally[] {
  const out = new Map<string, Tally>();
  for (const lease of leases) {
    const effect = effectOf(lease);
    if (!effect || !lease.outcome) continue;
    const key = `${lease.outcome} ${effect}`;
    const row = out.get(key) ?? {
      outcome: lease.outcome, words: kWords[lease.outcome] ?? lease.outcome, effect, count: 0,
    };
    out.set(key, { ...row, count: row.count + 1 });
  }
  const order = ['broken', 'kept', 'neither'];
  return [...out.values()].sort((a, b) => order.indexOf(a.effect) - order.indexOf(b.effect) || b.count - a.count);
}

export const isOpen = (lease: Lease): boolean => lease.state !== 'closed';
export const earned = (leases: Lease[]): number => leases.reduce((sum, l) => sum + l.earned, 0);

// Credits per hour while these leases run.
export const rate = (leases: Lease[]): number =>
  leases.reduce((sum, l) => sum + (l.state === 'running' || l.state === 'draining' ? l.price * l.slots : 0), 0);

// A machine made in the console has said nothing of itself until its agent has run once.
export function isKnown({ spec, offers }: Machine): boolean {
  return spec.cpu !== '' || spec.os !== '' || (offers ?? []).length > 0;
}

// Has it ever passed a test? The first one measures its speed.
export const wasTested = (machine: Machine): boolean => machine.core_speed !== undefined || machine.leases > 0;

const kOfferStates: Schemas['OfferState'][] = ['full', 'open', 'closed', 'paused', 'draining', 'frozen'];

// One word for a machine: its own trouble first, then the liveliest of its offers.
export function stateOf(machine: Machine, offers: Schemas['Offer'][]): State {
  if (!isKnown(machine)) return 'waiting';
  if (machine.doubted !== undefined) return wasTested(machine) ? 'doubted' : 'being tested';
  if (!machine.online) return 'offline';
  const states = offers.filter((o) => o.machine === machine.id).map((o) => o.state);
  return kOfferStates.find((s) => states.includes(s)) ?? 'no offer';
}
