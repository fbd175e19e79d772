import type { Schemas } from '../../../api/client';
import { count } from '../../../format';
import { type Draft, noDraft, toYaml } from './draft';
import type { Yaml, YamlMap } from './yaml';
import { isKind, kPlainKind, kSweep } from '../kinds';

// A job that exists, as the job file that would make one like it.

type Job = Schemas['Job'];
type Train = Schemas['Train'];

// What the data decides when it is cut; a file does not say it.
const kFromData = new Set(['input', 'mean', 'std', 'labels', 'classes', 'task', 'target_mean', 'target_std']);

// The trainer's configuration is JSON by name.
function valueOf(json: string): Yaml {
  try {
    return JSON.parse(json) as Yaml;
  } catch {
    return json;
  }
}

function training(train: Train): Partial<Draft> {
  const options: YamlMap = {};
  for (const [key, json] of Object.entries(train.config ?? {}))
    if (key !== 'model' && !kFromData.has(key)) options[key] = valueOf(json);
  const model = train.config?.['model'];
  const rest: YamlMap = {};
  if (train.local_batch !== 8) rest['local_batch'] = train.local_batch;
  if (train.local_state) rest['local_state'] = train.local_state;
  if (train.average === 'none') rest['average'] = train.average;
  if (train.local_steps > 0) rest['local_steps'] = train.local_steps;
  if (train.validations > 1) rest['validate'] = { per_epoch: train.validations };
  if (train.validators && train.validators.length > 0) rest['validators'] = train.validators;
  if (train.replicate > 0) rest['replicate'] = train.replicate;
  if (train.seed !== 1) rest['seed'] = train.seed;
  if (train.target && train.target.accuracy === undefined) rest['target'] = { ...train.target };
  if (model === undefined && Object.keys(options).length > 0) rest['options'] = options;
  return {
    model: model === undefined ? '' : String(valueOf(model)),
    modelOptions: model === undefined ? {} : options,
    script: train.trainer === 'python' ? 'trainer.py' : '',
    epochs: train.epochs,
    target: train.target?.accuracy ?? '',
    batch: train.batch,
    lr: train.lr,
    lrEnd: train.lr_end ?? '',
    rule: train.rule,
    ruleOptions: { ...train.rule_params },
    codec: train.codec === 'auto' ? '' : train.codec,
    rest,
  };
}

function program(batch: Schemas['Batch']): Partial<Draft> {
  const rest: YamlMap = {};
  // The console's own additions for scripts are made again.
  const inputs = (batch.inputs ?? []).filter(
    (i) => !i.path.startsWith('.souk/') && !(batch.train && i.path === 'trainer.py'),
  );
  const env = Object.entries(batch.env ?? {}).filter(
    ([name]) => !(batch.train && (name === 'PYTHONPATH' || name === 'PYTHONDONTWRITEBYTECODE')),
  );
  if (inputs.length > 0)
    rest['inputs'] = inputs.map(({ path, blob, url, sha256 }): YamlMap =>
      url ? { path, url, hash: sha256, fetch: 'lender' } : { path, blob },
    );
  if (env.length > 0) rest['env'] = Object.fromEntries(env);
  if (batch.image) rest['image'] = batch.image;
  if (batch.checkpoint) rest['checkpoint'] = { path: batch.checkpoint.path, every: batch.checkpoint.every };
  if (batch.network !== 'none') rest['network'] = batch.network;
  const { on, max } = batch.retry ?? {};
  if (max !== undefined && on && (max !== 10 || on.join() !== 'lost')) rest['retry'] = { on, max };
  return {
    ...(batch.train ? {} : { run: batch.run, outputs: batch.outputs ?? [] }),
    setup: batch.setup,
    rest,
  };
}

function sweep(s: Schemas['Sweep']): YamlMap {
  const parameters: YamlMap = {};
  for (const [name, p] of Object.entries(s.parameters ?? {}))
    parameters[name] = p.scale
      ? { [p.scale]: [p.low ?? 0, p.high ?? 0], ...(p.steps === undefined ? {} : { steps: p.steps }) }
      : (p.values ?? []).map(valueOf);
  return {
    parameters,
    method: s.method,
    ...(s.method === 'grid' ? {} : { trials: s.trials, seed: s.seed }),
    parallel: s.parallel,
    metric: s.metric,
    goal: s.goal,
    ...(s.trial_budget === undefined ? {} : { trial_budget: s.trial_budget }),
    ...(s.method === 'asha' ? { min_epochs: s.min_epochs, eta: s.eta } : {}),
  };
}

export function draftOfJob(job: Job): Draft {
  const c = job.constraints;
  const about = job.batch ? program(job.batch) : {};
  const train = job.batch?.train ? training(job.batch.train) : {};
  const rest: YamlMap = { ...about.rest, ...train.rest };
  if (job.priority !== 0) rest['priority'] = job.priority;
  const providers: YamlMap = {};
  if (c.providers_allowed?.length) providers['providers_allowed'] = c.providers_allowed;
  if (c.providers_refused?.length) providers['providers_refused'] = c.providers_refused;
  if (Object.keys(providers).length > 0) rest['constraints'] = providers;
  const of = job.batch?.sweep?.of;
  if (job.batch?.sweep) Object.assign(rest, { kind: kSweep, sweep: sweep(job.batch.sweep) });
  return {
    ...noDraft,
    ...about,
    ...train,
    kind: isKind(of) ? of : isKind(job.kind) ? job.kind : kPlainKind,
    name: job.name,
    class: job.class,
    also: (job.classes ?? []).filter((name) => name !== job.class),
    least: job.workers.min,
    most: job.workers.max,
    // What the program needs by itself is found out again.
    packages: (c.packages ?? []).filter((p) => !p.startsWith('@')),
    regions: c.regions ?? [],
    maxRtt: c.max_rtt_ms ?? '',
    minReliability: c.min_reliability ?? '',
    lenders: c.lenders_allowed ?? [],
    refused: c.lenders_refused ?? [],
    limit: job.limit,
    budget: job.budget,
    deadline: job.deadline ?? '',
    rest,
  };
}

// What of the job a file cannot say, in words.
export function unsaid(job: Job): string[] {
  const out: string[] = [];
  const batch = job.batch;
  if (!batch) return ['it has no program of its own: its owner decides what runs on its leases'];
  if (batch.train) {
    const shards = batch.train.shards ?? [];
    const samples = shards.reduce((sum, s) => sum + s.samples, 0);
    out.push(`its data: ${count(samples, 'sample')} in ${count(shards.length, 'shard')}, named by digests`);
    if (batch.train.trainer === 'python') out.push('its script, named by a digest');
  }
  if (batch.workdir) out.push('its working folder, named by a digest');
  return out;
}

export function yamlOfJob(job: Job): string {
  const missing = unsaid(job);
  const comment =
    missing.length === 0
      ? ''
      : `# Job ${job.id}. Not in this file:\n${missing.map((m) => `#   ${m}\n`).join('')}`;
  return comment + toYaml(draftOfJob(job));
}
