import type { Schemas } from '../../../api/client';
import { count, credits, dateTime } from '../../../format';

// What a job that does not run could give up, as a change that one click makes.

type Job = Schemas['Job'];
type Edit = Schemas['JobEdit'];
type Constraints = Schemas['Constraints'];
type Relaxation = Schemas['Relaxation'];

export type Step =
  | { how: 'edit'; edit: Edit }
  | { how: 'clone'; class: string } // A job's class cannot be changed; that of a copy can.
  | { how: 'wait' }
  | { how: 'command'; command: string };

// "@torch" and the like are what the program needs, whatever people ask for besides.
const needed = (name: string) => name.startsWith('@');

function without(c: Constraints, kind: Relaxation['kind']): Constraints | undefined {
  switch (kind) {
    case 'packages':
      return { ...c, packages: (c.packages ?? []).filter(needed) };
    case 'region':
      return { ...c, regions: [] };
    case 'rtt': {
      const { max_rtt_ms: _, ...rest } = c;
      return rest;
    }
    case 'reliability': {
      const { min_reliability: _, ...rest } = c;
      return rest;
    }
    case 'lender':
      return { ...c, lenders_allowed: [], lenders_refused: [] };
    case 'provider':
      return { ...c, providers_allowed: [], providers_refused: [] };
    default:
      return undefined;
  }
}

// Without what is empty, so that equal ones compare equal.
const spelled = (value: unknown) =>
  JSON.stringify(value, (_, part: unknown) => (Array.isArray(part) && part.length === 0 ? undefined : part));

// A change to what the job has already is none.
function editStep(edit: Edit, job: Job): Step {
  const changes = (Object.keys(edit) as ('limit' | 'budget' | 'workers' | 'constraints')[]).some(
    (key) => spelled(edit[key]) !== spelled(job[key]),
  );
  return changes ? { how: 'edit', edit } : { how: 'wait' };
}

export function stepFor(relaxation: Relaxation, job: Job): Step {
  const { kind, flag } = relaxation;
  const value = flag.split(' ')[1] ?? '';
  // What to write into its file stands in the change itself.
  if (kind === 'wait' || kind === 'environment') return { how: 'wait' };
  if (kind === 'slot_class' && value) return { how: 'clone', class: value };
  if (kind === 'price' && Number(value) > 0) return editStep({ limit: Number(value) }, job);
  if (kind === 'budget' && Number(value) > 0) return editStep({ budget: Number(value) }, job);
  const range = /^(\d+)\.\.(\d+)$/.exec(value);
  if (kind === 'workers' && range) return editStep({ workers: { min: Number(range[1]), max: Number(range[2]) } }, job);
  const constraints = without(job.constraints, kind);
  if (constraints) return editStep({ constraints }, job);
  return { how: 'command', command: `souk job edit ${job.id} ${flag}` };
}

type Obstacle = Schemas['Obstacle'];

const kObstacles: Record<Obstacle, string> = {
  price: 'ask more than your limit price',
  window: 'are outside their hours',
  full: 'are in use',
  paused: 'are paused',
  draining: 'are being withdrawn',
  offline: 'are offline',
  frozen: 'belong to a frozen account',
  packages: 'lack packages that it needs',
  region: 'are in other regions',
  rtt: 'are too far away',
  reliability: 'are not reliable enough',
  lender: 'belong to lenders you did not allow',
  provider: 'are of providers you did not allow',
  avoided: 'failed this job before',
  unproved: 'are not yet proved',
};

// What one offer does, or several.
export function obstacleText(obstacles: Obstacle[], offers = 2): string {
  const verb = (text: string) => (offers === 1 ? text.replace(/^are /, 'is ').replace(/^(ask|lack|belong)\b/, '$1s') : text);
  return obstacles.map((o) => verb(kObstacles[o] ?? o)).join(', and ');
}

// "wait until 2026-11-15T20:10:03.68Z" with the time as it is here.
export function relaxationText(r: Relaxation): string {
  const change = r.change.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, (iso) => dateTime(iso));
  const slots = r.slots > 0 ? `: ${count(r.slots, 'slot')}` : '';
  const extra =
    r.extra_per_hour > 0 && r.kind !== 'budget' ? `, ${credits(r.extra_per_hour)} more an hour` : '';
  return change + slots + extra;
}
