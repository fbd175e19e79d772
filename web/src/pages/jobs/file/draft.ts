import { isMap, writeYaml, type Yaml, type YamlMap } from './yaml';
import { kPlainKind, kSweep, sweeps, trains, type Kind } from '../kinds';

// A job as the form shows it. What a job file says beyond that is kept in `rest` and written back,
// so that form and file follow each other.

export type Num = number | '';

export type Draft = {
  kind: Kind;
  name: string;
  // A training.
  model: string;
  modelOptions: YamlMap;
  script: string;
  data: string; // A built-in set; empty: the files below.
  dataFiles: { format: string; train: string[]; test: string[]; label: string };
  epochs: Num;
  target: Num; // Accuracy, 0 to 1.
  batch: Num;
  lr: Num;
  lrEnd: Num;
  rule: string;
  ruleOptions: YamlMap;
  codec: string;
  // A batch job.
  run: string;
  setup: string;
  workdir: string;
  outputs: string[];
  // Both.
  packages: string[];
  class: string; // Empty: what is needed, below.
  also: string[]; // Other classes that a training may be in.
  cores: Num;
  memory: string;
  gpus: Num;
  gpuMemory: string;
  least: Num;
  most: Num;
  regions: string[];
  maxRtt: Num;
  minReliability: Num;
  lenders: string[];
  refused: string[];
  limit: Num;
  budget: Num;
  deadline: string;
  rest: YamlMap;
};

export const noDraft: Draft = {
  kind: 'train',
  name: '',
  model: '',
  modelOptions: {},
  script: '',
  data: '',
  dataFiles: { format: 'csv', train: [], test: [], label: '' },
  epochs: '',
  target: '',
  batch: '',
  lr: '',
  lrEnd: '',
  rule: '',
  ruleOptions: {},
  codec: '',
  run: '',
  setup: '',
  workdir: '',
  outputs: [],
  packages: [],
  class: '',
  also: [],
  cores: '',
  memory: '',
  gpus: '',
  gpuMemory: '',
  least: '',
  most: '',
  regions: [],
  maxRtt: '',
  minReliability: '',
  lenders: [],
  refused: [],
  limit: '',
  budget: '',
  deadline: '',
  rest: {},
};

// Where a job file says what a field shows.
const kPlaces: Partial<Record<keyof Draft, string[]>> = {
  name: ['name'], epochs: ['epochs'], batch: ['batch'], lr: ['lr'], lrEnd: ['lr'], setup: ['setup'],
  least: ['workers'], most: ['workers'], deadline: ['deadline'], target: ['target', 'accuracy'],
  cores: ['resources', 'cores'], memory: ['resources', 'memory'], gpus: ['resources', 'gpus'],
  gpuMemory: ['resources', 'gpu_memory'], limit: ['price', 'limit'], budget: ['price', 'budget'],
  maxRtt: ['constraints', 'max_rtt_ms'], minReliability: ['constraints', 'min_reliability'],
};

// What the file says at a field whose value the form cannot show; undefined: nothing.
export function keptInFile(d: Draft, field: keyof Draft): string | undefined {
  let y: Yaml | undefined = d.rest;
  for (const key of kPlaces[field] ?? ['']) y = y !== undefined && isMap(y) ? y[key] : undefined;
  if (y === undefined || d[field] !== '') return undefined;
  return typeof y === 'string' ? y : JSON.stringify(y);
}

// --- To a job file

const given = (map: Record<string, Yaml | undefined>): YamlMap =>
  Object.fromEntries(
    Object.entries(map).filter(
      ([, y]) =>
        y !== undefined &&
        y !== '' &&
        !(Array.isArray(y) && y.length === 0) &&
        !(isMap(y) && Object.keys(y).length === 0),
    ),
  ) as YamlMap;

const named = (name: string, options: YamlMap): Yaml =>
  Object.keys(options).length > 0 && name !== '' ? { name, ...options } : name;
const oneOrMany = (list: string[]): Yaml => (list.length === 1 ? (list[0] ?? '') : list);

function dataOf(d: Draft): Yaml {
  if (d.data !== '' || d.dataFiles.train.length === 0) return d.data;
  const { format, train, test, label } = d.dataFiles;
  return given({ format, train: oneOrMany(train), test: oneOrMany(test), label });
}

function workersOf({ least, most }: Draft): Yaml {
  if (least === '' && most === '') return '';
  const from = least === '' ? 1 : least;
  const to = most === '' ? from : most;
  return from === to ? to : `${from}..${to}`;
}

// Keys in the order in which people read a job: what, with what, where, for how much.
export function mapOf(d: Draft): YamlMap {
  const train = trains(d.kind);
  const isNumber = (n: Num): n is number => n !== '';
  const out = given({
    name: d.name,
    kind: sweeps(d.rest['kind']) ? kSweep : d.kind === kPlainKind ? '' : d.kind,
    model: train ? named(d.model, d.modelOptions) : '',
    script: train ? d.script : '',
    data: train ? dataOf(d) : '',
    epochs: train ? d.epochs : '',
    target: train && isNumber(d.target) ? { accuracy: d.target } : '',
    batch: train ? d.batch : '',
    lr: !train ? '' : isNumber(d.lrEnd) && isNumber(d.lr) ? { start: d.lr, end: d.lrEnd } : d.lr,
    rule: train ? named(d.rule, d.ruleOptions) : '',
    codec: train ? d.codec : '',
    run: train ? '' : d.run,
    setup: d.setup,
    workdir: d.workdir,
    outputs: train ? [] : d.outputs,
    packages: d.packages,
    class: d.class === '' ? '' : oneOrMany([d.class, ...d.also]),
    resources:
      d.class === ''
        ? given({ cores: d.cores, memory: d.memory, gpus: d.gpus, gpu_memory: d.gpuMemory })
        : '',
    workers: workersOf(d),
    price: given({ limit: d.limit, budget: d.budget }),
    deadline: d.deadline,
    constraints: given({
      regions: d.regions,
      max_rtt_ms: d.maxRtt,
      min_reliability: d.minReliability,
      lenders_allowed: d.lenders,
      lenders_refused: d.refused,
    }),
  });
  for (const [key, y] of Object.entries(d.rest)) {
    const known = out[key];
    if (known === undefined) out[key] = y;
    else if (isMap(known) && isMap(y)) out[key] = { ...y, ...known };
  }
  return out;
}

export const toYaml = (d: Draft): string => writeYaml(mapOf(d));
