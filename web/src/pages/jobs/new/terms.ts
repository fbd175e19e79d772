import type { Schemas } from '../../../api/client';
import { seconds } from '../../../format';
import type { Draft } from '../file/draft';
import { trains } from '../kinds';

// What a draft comes to: its class, its price, and how far its budget goes. As the server and the
// command line reckon it.

type SlotClass = Schemas['SlotClass'];

const kUnits: Record<string, number> = { k: 1 / 1024, m: 1, g: 1024, t: 1024 ** 2 };

// "4G", "512M", "1.5T", "64GiB", in MiB.
export function parseMemory(text: string): number | undefined {
  const found = /^(\d+(?:\.\d+)?)\s*([kmgt])(?:i?b)?$/i.exec(text.trim());
  const unit = kUnits[found?.[2]?.toLowerCase() ?? ''];
  return found && unit ? Math.ceil(Number(found[1]) * unit) : undefined;
}

// When a job has to be done, given a moment or a length of time from now on.
export function deadlineOf(text: string, now: number): number | undefined {
  const length = seconds(text.trim());
  if (text.trim() !== '' && Number.isFinite(length) && length > 0) return now + length * 1000;
  const moment = /\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : NaN;
  return Number.isFinite(moment) ? moment : undefined;
}

const sizeOf = (c: SlotClass) => [c.gpus, c.cores, c.memory_mib, c.gpu_memory_mib];
const smaller = (a: SlotClass, b: SlotClass) => {
  const [x, y] = [sizeOf(a), sizeOf(b)];
  for (let i = 0; i < x.length; ++i) if (x[i] !== y[i]) return (x[i] ?? 0) - (y[i] ?? 0);
  return 0;
};

// The class that is named, or the smallest that has what is needed.
export function likelyClass(d: Draft, classes: SlotClass[]): SlotClass | undefined {
  if (d.class !== '') return classes.find((c) => c.name === d.class);
  const memory = parseMemory(d.memory) ?? 0;
  const gpuMemory = parseMemory(d.gpuMemory) ?? 0;
  return classes
    .filter(
      (c) =>
        !c.retired &&
        c.cores >= (d.cores || 1) &&
        c.memory_mib >= memory &&
        c.gpus >= (d.gpus || 0) &&
        c.gpu_memory_mib >= gpuMemory,
    )
    .sort(smaller)[0];
}

// Of the classes that it may be in, the one whose suggested price is highest: what it pays at most
// follows from that.
export function dearestClass(d: Draft, classes: SlotClass[]): SlotClass | undefined {
  const named = classes.filter((c) => d.also.includes(c.name));
  return [likelyClass(d, classes), ...named].reduce((a, b) =>
    (b?.suggested ?? 0) > (a?.suggested ?? 0) ? b : a,
  );
}

export function likelyLimit(d: Draft, slot: SlotClass | undefined): number {
  return d.limit === '' ? 2 * (slot?.suggested ?? 0) : d.limit;
}

export const mostWorkers = (d: Draft): number => d.most || d.least || 1;

// Without a word on the budget: an hour of all workers at the limit price, or what there is.
export function likelyBudget(d: Draft, slot: SlotClass | undefined, available: number): number {
  if (d.budget !== '') return d.budget;
  return Math.min(available, likelyLimit(d, slot) * mostWorkers(d));
}

// How long the budget lasts for all workers at the limit price, in seconds.
export function lasts(d: Draft, slot: SlotClass | undefined, available: number): number {
  const rate = likelyLimit(d, slot) * mostWorkers(d);
  return rate > 0 ? (likelyBudget(d, slot, available) / rate) * 3_600 : Infinity;
}

// --- What has to be put right before the next step

export type Problems = Partial<Record<keyof Draft, string>>;

const kMostWorkers = 10_000;

// Of numbers that count something.
function whole(out: Problems, d: Draft, field: 'epochs' | 'batch' | 'least' | 'most' | 'cores', most = Infinity) {
  const n = d[field];
  if (n === '') return;
  if (!Number.isInteger(n) || n < 1) out[field] = 'a whole number, 1 or more';
  else if (n > most) out[field] = `at most ${most.toLocaleString('en')}`;
}

export function whatProblems(d: Draft): Problems {
  const out: Problems = {};
  if (d.name.length > 40) out.name = 'at most 40 characters';
  if (!trains(d.kind)) {
    if (d.run.trim() === '') out.run = 'write the command that each worker runs';
    return out;
  }
  if (d.model === '' && d.script === '' && !('model' in d.rest)) out.model = 'choose a model';
  if (d.data === '' && d.dataFiles.train.length === 0 && !('data' in d.rest))
    out.data = 'choose the data to train on';
  return { ...out, ...trainingProblems(d) };
}

function trainingProblems(d: Draft): Problems {
  const out: Problems = {};
  whole(out, d, 'epochs');
  whole(out, d, 'batch');
  if (d.lr === 0) out.lr = 'more than 0';
  if (d.lrEnd !== '' && d.lr === '') out.lrEnd = 'give the learning rate at the start too';
  if (d.target !== '' && (d.target <= 0 || d.target > 1)) out.target = 'more than 0% and at most 100%';
  return out;
}

export function needsProblems(d: Draft, classes: SlotClass[]): Problems {
  const out: Problems = {};
  if (d.memory !== '' && parseMemory(d.memory) === undefined) out.memory = 'such as 4G or 512M';
  if (d.gpuMemory !== '' && parseMemory(d.gpuMemory) === undefined) out.gpuMemory = 'such as 16G';
  whole(out, d, 'cores');
  whole(out, d, 'least', kMostWorkers);
  whole(out, d, 'most', kMostWorkers);
  if (d.least !== '' && d.most !== '' && d.least > d.most) out.most = `at least ${d.least}, as on the left`;
  if (d.minReliability !== '' && (d.minReliability < 0 || d.minReliability > 1))
    out.minReliability = 'from 0% to 100%';
  if (Object.keys(out).length > 0 || classes.length === 0 || likelyClass(d, classes)) return out;
  if (d.class !== '') out.class = `there is no class ${d.class}: choose one of ${classes.map((c) => c.name).join(', ')}`;
  else out.cores = 'no slot class is that large: ask for less per worker and for more workers';
  return out;
}

// More than one has is no problem yet: the plan costs nothing, and says how to get credits.
export function priceProblems(d: Draft, now: number): Problems {
  const out: Problems = {};
  if (d.budget === 0) out.budget = 'more than 0';
  if (d.deadline !== '') {
    const at = deadlineOf(d.deadline, now);
    if (at === undefined) out.deadline = 'such as 3h, or 2027-03-01T22:00:00Z';
    else if (at <= now) out.deadline = 'this time has passed';
  }
  return out;
}

// What is wrong is said while it is typed; what is only missing, when somebody wants to go on.
const kNeeded: (keyof Draft)[] = ['run', 'model', 'data'];
export function shownProblems(problems: Problems, tried: boolean): Problems {
  if (tried) return problems;
  return Object.fromEntries(Object.entries(problems).filter(([field]) => !kNeeded.includes(field as keyof Draft)));
}
