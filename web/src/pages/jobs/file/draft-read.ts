import { type Draft, noDraft, type Num } from './draft';
import { isMap, numberOf, textOf, type Yaml, type YamlMap } from './yaml';
import { readYaml } from './yaml-read';
import { isKind, kPlainKind, sweeps } from '../kinds';

// From a job file to the form.

// Takes keys out of a map; what nobody takes is the rest.
class Taker {
  readonly rest: YamlMap;
  constructor(map: YamlMap) {
    this.rest = { ...map };
  }
  take<T>(key: string, as: (y: Yaml) => T | undefined, otherwise: T): T {
    const y = this.rest[key];
    const out = y === undefined ? undefined : as(y);
    if (out === undefined) return otherwise;
    delete this.rest[key];
    return out;
  }
  // What another reader left of a map that it took.
  give(key: string, map: YamlMap) {
    if (Object.keys(map).length > 0) this.rest[key] = map;
  }
  text = (key: string) => this.take(key, textOf, '');
  number = (key: string): Num => this.take<Num>(key, numberOf, '');
  list = (key: string) => this.take(key, texts, []);
  map = (key: string) => this.take(key, (y) => (isMap(y) ? y : undefined), {});
}

function texts(y: Yaml): string[] | undefined {
  if (!Array.isArray(y)) return undefined;
  const out = y.map((item) => textOf(item));
  return out.every((t) => t !== undefined) ? (out as string[]) : undefined;
}

const manyOrOne = (y: Yaml): string[] | undefined => {
  const one = textOf(y);
  return one === undefined ? texts(y) : [one];
};

function namedFrom(y: Yaml): { name: string; options: YamlMap } | undefined {
  if (!isMap(y)) {
    const name = textOf(y);
    return name === undefined ? undefined : { name, options: {} };
  }
  const { name, ...options } = y;
  const text = textOf(name);
  return text === undefined ? undefined : { name: text, options };
}

function rateFrom(y: Yaml): { lr: Num; lrEnd: Num } | undefined {
  const one = numberOf(y);
  if (one !== undefined) return { lr: one, lrEnd: '' };
  if (!isMap(y)) return undefined;
  const { start, end, ...other } = y;
  const [lr, lrEnd] = [numberOf(start), numberOf(end)];
  if (lr === undefined || Object.keys(other).length > 0) return undefined;
  return { lr, lrEnd: lrEnd ?? '' };
}

function dataFrom(y: Yaml): Pick<Draft, 'data' | 'dataFiles'> | undefined {
  const name = textOf(y);
  if (name !== undefined) return { data: name, dataFiles: noDraft.dataFiles };
  if (!isMap(y)) return undefined;
  const t = new Taker(y);
  const dataFiles = {
    format: t.text('format'),
    train: t.take('train', manyOrOne, []),
    test: t.take('test', manyOrOne, []),
    label: t.text('label'),
  };
  return Object.keys(t.rest).length > 0 ? undefined : { data: '', dataFiles };
}

function workersFrom(y: Yaml): { least: Num; most: Num } | undefined {
  const found = /^(\d+)(?:\.\.(\d+))?$/.exec(textOf(y) ?? '');
  if (!found) return undefined;
  return { least: Number(found[1]), most: Number(found[2] ?? found[1]) };
}

// "2" and "2.." both mean at least two.
const countFrom = (y: Yaml): Num | undefined => {
  const found = /^(\d+)(\.\.)?$/.exec(textOf(y) ?? '');
  return found ? Number(found[1]) : undefined;
};
const atLeast = (y: Yaml): string | undefined => textOf(y)?.replace(/\.\.$/, '');

export function draftOf(map: YamlMap): Draft {
  const t = new Taker(map);
  const kind = sweeps(map['kind'])
    ? (map['run'] === undefined ? 'train' : 'batch')
    : t.take('kind', (y) => (isKind(y) ? y : undefined), kPlainKind);
  const model = t.take('model', namedFrom, { name: '', options: {} });
  const rule = t.take('rule', namedFrom, { name: '', options: {} });
  const [slot = '', ...also] = t.take('class', manyOrOne, []);
  const resources = new Taker(t.map('resources'));
  const price = new Taker(t.map('price'));
  const target = new Taker(t.map('target'));
  const constraints = new Taker(t.map('constraints'));
  const out: Draft = {
    ...noDraft,
    kind,
    name: t.text('name'),
    model: model.name,
    modelOptions: model.options,
    script: t.text('script'),
    ...t.take('data', dataFrom, { data: '', dataFiles: noDraft.dataFiles }),
    epochs: t.number('epochs'),
    target: target.number('accuracy'),
    batch: t.number('batch'),
    ...t.take('lr', rateFrom, { lr: '', lrEnd: '' }),
    rule: rule.name,
    ruleOptions: rule.options,
    codec: t.text('codec'),
    run: t.text('run'),
    setup: t.text('setup'),
    workdir: t.text('workdir'),
    outputs: t.list('outputs'),
    packages: t.list('packages'),
    class: slot,
    also,
    cores: resources.take<Num>('cores', countFrom, ''),
    memory: resources.take('memory', atLeast, ''),
    gpus: resources.take<Num>('gpus', countFrom, ''),
    gpuMemory: resources.take('gpu_memory', atLeast, ''),
    ...t.take<{ least: Num; most: Num }>('workers', workersFrom, { least: '', most: '' }),
    regions: constraints.list('regions'),
    maxRtt: constraints.number('max_rtt_ms'),
    minReliability: constraints.number('min_reliability'),
    lenders: constraints.list('lenders_allowed'),
    refused: constraints.list('lenders_refused'),
    limit: price.number('limit'),
    budget: price.number('budget'),
    deadline: t.text('deadline'),
  };
  t.give('resources', resources.rest);
  t.give('price', price.rest);
  t.give('target', target.rest);
  t.give('constraints', constraints.rest);
  return { ...out, rest: t.rest };
}

// What the text says, or why it cannot be followed here: then it is for the server to read.
export function fromYaml(text: string): { draft: Draft } | { error: string } {
  try {
    return { draft: draftOf(readYaml(text)) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
