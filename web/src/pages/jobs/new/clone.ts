import type { Schemas } from '../../../api/client';
import type { Draft, Num } from '../file/draft';
import type { YamlMap } from '../file/yaml';
import { deadlineOf, parseMemory } from './terms';

// A copy of a job: its program, files and data are those of the first, by their digests; what the
// form shows may be changed.

type Job = Schemas['Job'];
type NewJob = Schemas['NewJob'];

const orElse = (n: Num, otherwise: number): number => (n === '' ? otherwise : n);

const numbers = (map: YamlMap): Record<string, number> =>
  Object.fromEntries(Object.entries(map).flatMap(([key, y]) => (typeof y === 'number' ? [[key, y]] : [])));

function trainOf(train: Schemas['Train'], d: Draft): Schemas['Train'] {
  const { target, lr_end: _, ...rest } = train;
  // The page sets an accuracy; a target of anything else stays as it is.
  const kept = target && target.accuracy === undefined ? { target } : {};
  return {
    ...rest,
    epochs: orElse(d.epochs, train.epochs),
    batch: orElse(d.batch, train.batch),
    lr: orElse(d.lr, train.lr),
    rule: d.rule,
    rule_params: numbers(d.ruleOptions),
    codec: d.codec || 'auto',
    ...(d.lrEnd === '' ? {} : { lr_end: d.lrEnd }),
    ...(d.target === '' ? kept : { target: { accuracy: d.target } }),
  };
}

function needsOf(d: Draft): Pick<NewJob, 'class' | 'also_classes' | 'resources'> {
  if (d.class !== '') return { class: d.class, ...(d.also.length > 0 ? { also_classes: d.also } : {}) };
  return {
    resources: {
      cores: orElse(d.cores, 1),
      memory_mib: parseMemory(d.memory) ?? 0,
      gpus: orElse(d.gpus, 0),
      gpu_memory_mib: parseMemory(d.gpuMemory) ?? 0,
    },
  };
}

export function cloneOf(job: Job, d: Draft, budget: number, now: number): NewJob {
  const least = orElse(d.least, 1);
  const deadline = d.deadline === '' ? undefined : deadlineOf(d.deadline, now);
  const { max_rtt_ms: _, min_reliability: __, ...other } = job.constraints;
  const batch = job.batch && {
    ...job.batch,
    ...(job.batch.train ? { train: trainOf(job.batch.train, d) } : { run: d.run, outputs: d.outputs }),
    setup: d.setup,
  };
  return {
    name: d.name,
    kind: job.kind,
    ...needsOf(d),
    workers: { min: least, max: Math.max(least, orElse(d.most, least)) },
    ...(d.limit === '' ? {} : { limit: d.limit }),
    budget,
    ...(deadline === undefined ? {} : { deadline: new Date(deadline).toISOString() }),
    priority: job.priority,
    constraints: {
      ...other,
      packages: d.packages,
      regions: d.regions,
      lenders_allowed: d.lenders,
      lenders_refused: d.refused,
      ...(d.maxRtt === '' ? {} : { max_rtt_ms: d.maxRtt }),
      ...(d.minReliability === '' ? {} : { min_reliability: d.minReliability }),
    },
    ...(batch ? { batch } : {}),
  };
}

// The form of a copy, and what of the first job does not come with it.
export function beginClone(job: Job, draft: Draft, now: number, slot = ''): { draft: Draft; lost: string[] } {
  const lost: string[] = [];
  const out = { ...draft, ...(slot ? { class: slot, also: [] } : {}) };
  if (job.deadline && Date.parse(job.deadline) <= now) {
    out.deadline = '';
    lost.push('its deadline, which has passed');
  }
  if (!job.ended || (job.result ?? '') !== '' || job.batch?.checkpoint)
    lost.push('its model and files: the copy starts from the beginning');
  if (!job.batch) lost.push('its program: it had none of its own');
  return { draft: out, lost };
}
