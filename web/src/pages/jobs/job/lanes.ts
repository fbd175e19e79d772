import type { Schemas } from '../../../api/client';
import { duration } from '../../../format';

export type Lease = Schemas['Lease'];

// One lane for each lease: when the machine came, when its work began, when and how it left.
export type Lane = {
  id: string;
  machine: string;
  lender: string;
  granted: number; // ms since 1970, as all times here
  started?: number;
  until: number; // Its end, or now.
  open: boolean;
  word: string; // What it does, or what became of it.
  color: string;
  detail: string;
};

export type Timeline = {
  from: number;
  to: number;
  ticks: { at: number; text: string }[];
  lanes: Lane[];
  left: number;
};

export const kMostLanes = 200;

// For leases that ended: the word and its colour.
const kOutcomes: Record<Exclude<Schemas['LeaseOutcome'], 'job'>, [string, string]> = {
  none: ['open', 'gray'],
  completed: ['completed', 'teal'],
  failed: ['failed', 'red'],
  released: ['released by its lender', 'yellow'],
  term: ['term ended', 'gray'],
  lost: ['lost', 'red'],
  unstarted: ['never started', 'orange'],
};
const kStates: Record<Schemas['LeaseState'], [string, string]> = {
  granted: ['preparing', 'blue'],
  running: ['running', 'souk'],
  draining: ['leaving', 'yellow'],
  closed: ['closed', 'gray'],
};

const kSame = 5_000; // ms: a job closes its leases as it ends.

export function fate(
  lease: Pick<Lease, 'state' | 'outcome' | 'ended'>,
  jobEnded?: string,
): { word: string; color: string } {
  if (lease.outcome === 'job') {
    const stayed =
      jobEnded && lease.ended && Math.abs(Date.parse(jobEnded) - Date.parse(lease.ended)) < kSame;
    return stayed ? { word: 'worked to the end', color: 'teal' } : { word: 'job paused', color: 'gray' };
  }
  const [word, color] = (lease.outcome ? kOutcomes[lease.outcome] : kStates[lease.state]) ?? [
    lease.outcome ?? lease.state,
    'gray',
  ];
  return { word, color };
}

const kSteps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800,
  604_800,
];

// Round moments after the start, six at most.
export function ticksOf(length: number): { at: number; text: string }[] {
  const step = kSteps.find((s) => length / (s * 1000) <= 6) ?? Math.ceil(length / 6_000 / 604_800) * 604_800;
  const out: { at: number; text: string }[] = [];
  for (let s = 0; s * 1000 <= length; s += step)
    out.push({ at: s * 1000, text: s === 0 ? '0' : s < 60 ? `${s} s` : duration(s) });
  return out;
}

// `names`: of machines by id. `leases`: in any order. Once the job has ended, time stands still.
export function timelineOf(
  leases: Lease[],
  names: Map<string, string>,
  now: number,
  ended?: string,
): Timeline {
  const sorted = [...leases].sort(
    (a, b) => Date.parse(a.granted) - Date.parse(b.granted) || a.id.localeCompare(b.id),
  );
  const kept = sorted.slice(-kMostLanes);
  const lanes = kept.map((lease): Lane => {
    const { word, color } = fate(lease, ended);
    return {
      id: lease.id,
      machine: names.get(lease.machine) ?? lease.machine,
      lender: lease.lender,
      granted: Date.parse(lease.granted),
      ...(lease.started ? { started: Date.parse(lease.started) } : {}),
      until: lease.ended ? Date.parse(lease.ended) : now,
      open: lease.state !== 'closed',
      word,
      color,
      detail: lease.detail ?? lease.doing ?? '',
    };
  });
  const from = Math.min(...lanes.map((l) => l.granted));
  const last = Math.max(...lanes.map((l) => l.until));
  const to =
    lanes.length === 0
      ? now
      : Math.max(from + 1_000, ended && !lanes.some((l) => l.open) ? last : Math.max(now, last));
  const start = lanes.length === 0 ? now : from;
  return { from: start, to, ticks: ticksOf(to - start), lanes, left: leases.length - kept.length };
}

// In words, for those who cannot see the bar.
export function laneText(lane: Lane): string {
  const before = lane.started ?? lane.until;
  const prepared = duration(Math.max(0, before - lane.granted) / 1000);
  if (lane.started === undefined)
    return `${lane.machine} of ${lane.lender}: ${lane.word}, ${prepared} without work`;
  const worked = duration(Math.max(0, lane.until - lane.started) / 1000);
  return `${lane.machine} of ${lane.lender}: ${lane.word}, ${prepared} of preparing and ${worked} of work`;
}
