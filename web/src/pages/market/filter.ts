import type { Schemas } from '../../api/client';

// What somebody looks for, as the filter language of the market says it, and in which order the
// answers are shown.

export type Offer = Schemas['Offer'];

// As they were typed; empty: any.
export type Filter = {
  gpu: string;
  vram: string; // GiB of each GPU.
  cores: string;
  memory: string; // GiB.
  speed: string;
  price: string;
  packages: string;
  region: string;
  proven: string; // 'yes': machines with a history only.
  all: string; // 'yes': those too that cannot be had now.
};

export const kNoFilter: Filter = {
  gpu: '', vram: '', cores: '', memory: '', speed: '', price: '', packages: '', region: '', proven: '', all: '',
};

export type Condition = { key: keyof Filter; where: string };

const kPlain = /^[\w.:+\-/@%*~]+$/;
const kWords = /^(and|or|not)$/i;

// A text as the filter language reads it.
export function quoted(text: string): string {
  const t = text.trim();
  return kPlain.test(t) && !kWords.test(t) ? t : `'${t.replace(/[\\']/g, '\\$&')}'`;
}

const isNumber = (text: string) => text.trim() !== '' && Number.isFinite(Number(text)) && Number(text) >= 0;

// One for each thing that is asked for, in the order in which the market answers about them.
export function conditionsOf(f: Filter): Condition[] {
  const out: Condition[] = [];
  const text = (key: keyof Filter, field: string) => {
    if (f[key].trim() !== '') out.push({ key, where: `${field}=${quoted(f[key])}` });
  };
  const number = (key: keyof Filter, comparison: string) => {
    if (isNumber(f[key])) out.push({ key, where: `${comparison}${Number(f[key])}` });
  };
  if (f.all !== 'yes') out.push({ key: 'all', where: 'state=open' });
  text('gpu', 'gpu');
  number('vram', 'vram>=');
  number('cores', 'cores>=');
  number('memory', 'memory>=');
  number('speed', 'speed>=');
  number('price', 'asks<=');
  text('packages', 'packages');
  text('region', 'region');
  if (f.proven === 'yes') out.push({ key: 'proven', where: 'leases>0' });
  return out;
}

export const whereOf = (f: Filter): string => conditionsOf(f).map((c) => c.where).join(' and ');

// Without this condition.
export const without = (f: Filter, key: keyof Filter): Filter => ({ ...f, [key]: key === 'all' ? 'yes' : '' });

export const filterOf = (search: URLSearchParams): Filter =>
  Object.fromEntries(Object.keys(kNoFilter).map((key) => [key, search.get(key) ?? ''])) as Filter;

// --- Order

export const kOrders = {
  price: 'cheapest first',
  value: 'most speed for the price',
  speed: 'fastest first',
  reliability: 'most reliable first',
  memory: 'most memory first',
  vram: 'most GPU memory first',
};
export type Order = keyof typeof kOrders;

// What is smaller comes first; what is not known comes last.
const kKeys: Record<Order, (o: Offer) => number> = {
  price: (o) => o.asks,
  value: (o) => o.per_speed ?? Infinity,
  speed: (o) => -(o.speed ?? -Infinity),
  reliability: (o) => (o.leases === 0 ? Infinity : -o.reliability),
  memory: (o) => -o.memory,
  vram: (o) => -o.vram,
};

export function sorted(offers: Offer[], by: Order): Offer[] {
  const key = kKeys[by];
  return [...offers].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    return x === y ? a.asks - b.asks : x - y;
  });
}

// --- Words

export const isMark = (name: string) => name.startsWith('@');

export function gpuText(o: Offer): string {
  if (o.gpus === 0) return 'none';
  return `${o.gpus > 1 ? `${o.gpus} × ` : ''}${o.gpu || 'GPU'}, ${gib(o.vram)}`;
}

export const gib = (n: number): string => `${n.toLocaleString('en', { maximumFractionDigits: 1 })} GiB`;

// What it can run: marks first, then some packages.
export function environmentText(o: Offer, most = 3): string {
  const all = o.packages ?? [];
  const marks = all.filter(isMark).map((m) => m.slice(1));
  const packages = all.filter((p) => !isMark(p));
  const shown = [...marks, ...packages.slice(0, most)];
  const more = o.package_count - marks.length - Math.min(most, packages.length);
  if (shown.length === 0) return 'nothing beyond the system';
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

export function windowText(o: Offer): string {
  const weekly = o.weekly ?? [];
  if (weekly.length > 0) return weekly.join('; ');
  return o.until ? 'until a fixed time' : 'always';
}

// The form of a new job that asks for this machine.
export function rentLink(o: Offer): string {
  const query = new URLSearchParams({ class: o.class, lender: o.lender, machine: o.machine_name });
  if (o.price !== undefined) query.set('price', String(o.price));
  return `/jobs/new?${query}`;
}
