import type { Schemas } from '../../api/client';
import { credits } from '../../format';
import { kMostWindows, kWeek, hoursOpen, readWindows, type Windows, writeWindows } from './weekly';

// What a lender edits of an offer, and what of it goes to the market.

export type Offer = Schemas['Offer'];
export type SlotClass = Schemas['SlotClass'];
export type Spec = Schemas['MachineSpec'];

export type Draft = {
  slots: number;
  price: number | ''; // Empty while it is being typed.
  market: boolean;
  always: boolean;
  windows: Windows;
  ends: boolean; // Keeps the start and end that it has.
};

export function draftOf(offer: Offer, zone: string): Draft {
  const weekly = offer.weekly ?? [];
  return {
    slots: offer.slots,
    price: offer.price ?? '',
    market: offer.price === undefined,
    always: weekly.length === 0,
    windows: readWindows(weekly, zone),
    ends: offer.from !== undefined || offer.until !== undefined,
  };
}

const weeklyOf = (draft: Draft): string[] => (draft.always ? [] : writeWindows(draft.windows));

// Windows in the order and words of writeWindows, so that equal ones compare equal.
function spelled(offer: Offer, zone: string): string[] {
  return offer.weekly?.length ? writeWindows(readWindows(offer.weekly, zone)) : [];
}

// Only what was changed; nothing when nothing was.
export function editOf(offer: Offer, draft: Draft, zone: string): Schemas['OfferEdit'] | undefined {
  const out: Schemas['OfferEdit'] = { market: false, always: false };
  let changed = false;
  const set = (edit: Partial<Schemas['OfferEdit']>) => {
    Object.assign(out, edit);
    changed = true;
  };
  if (draft.slots !== offer.slots) set({ slots: draft.slots });
  if (draft.market && offer.price !== undefined) set({ market: true });
  if (!draft.market && draft.price !== '' && draft.price !== offer.price) set({ price: draft.price });
  const weekly = weeklyOf(draft);
  const had = offer.from !== undefined || offer.until !== undefined;
  if (had && !draft.ends) set({ always: true, weekly });
  else if (weekly.join(';') !== spelled(offer, zone).join(';')) set({ weekly });
  return changed ? out : undefined;
}

export function newOffer(machine: string, of: string, draft: Draft): Schemas['NewOffer'] {
  return {
    machine,
    class: of,
    slots: draft.slots,
    ...(draft.market || draft.price === '' ? {} : { price: draft.price }),
    ...(draft.always ? {} : { weekly: weeklyOf(draft) }),
  };
}

// Why it cannot be saved as it is.
export function problemOf(draft: Draft): string | undefined {
  if (!draft.market && draft.price === '') return 'Type a price, or use the market price.';
  if (draft.always) return undefined;
  const lines = weeklyOf(draft);
  if (lines.length === 0) return 'Draw hours in the week, or choose Always.';
  if (lines.length > kMostWindows)
    return `${lines.length} different windows: the market takes ${kMostWindows}. Let some days have the same hours.`;
  return undefined;
}

// Windows in other time zones may overlap those drawn: this is the least.
export function hoursPerWeek(draft: Draft): number {
  return draft.always ? kWeek / 60 : hoursOpen(draft.windows.spans);
}

// --- What fits

// How many slots of a class a machine has room for beside its other offers.
export function slotsThatFit(of: SlotClass, spec: Spec, others: Offer[], classes: SlotClass[]): number {
  if (of.gpu_memory_mib > spec.gpu_memory_mib) return 0;
  const left = { cores: spec.cores, memory: spec.memory_mib, gpus: spec.gpus };
  for (const o of others) {
    const c = classes.find((k) => k.name === o.class);
    left.cores -= (c?.cores ?? 0) * o.slots;
    left.memory -= (c?.memory_mib ?? 0) * o.slots;
    left.gpus -= (c?.gpus ?? 0) * o.slots;
  }
  const room = [
    Math.floor(left.cores / Math.max(1, of.cores)),
    Math.floor(left.memory / Math.max(1, of.memory_mib)),
    ...(of.gpus > 0 ? [Math.floor(left.gpus / of.gpus)] : []),
  ];
  return Math.max(0, Math.min(...room));
}

// What all slots of a class, beside its other offers, leave of a machine; empty: next to nothing.
export function unused(of: SlotClass, slots: number, spec: Spec, others: Offer[], classes: SlotClass[]): string {
  const used = [{ c: of, n: slots }, ...others.flatMap((o) => {
    const c = classes.find((k) => k.name === o.class);
    return c ? [{ c, n: o.slots }] : [];
  })];
  const sum = (size: (c: SlotClass) => number) => used.reduce((all, { c, n }) => all + size(c) * n, 0);
  const memory = spec.memory_mib - sum((c) => c.memory_mib);
  const cores = spec.cores - sum((c) => c.cores);
  const gpus = spec.gpus - sum((c) => c.gpus);
  const parts = [
    ...(cores > 0 ? [`${cores} ${cores === 1 ? 'core' : 'cores'}`] : []),
    ...(memory >= Math.max(1024, spec.memory_mib / 10) ? [`${gib(memory)} of memory`] : []),
    ...(gpus > 0 ? [`${gpus} ${gpus === 1 ? 'GPU' : 'GPUs'}`] : []),
  ];
  return parts.length === 0 ? '' : `Not offered with all of these slots: ${parts.join(', ')}. Another class may use more, or a second offer.`;
}

const gib = (mib: number) => `${(mib / 1024).toLocaleString('en', { maximumFractionDigits: 1 })} GiB`;

// "1 core, 2 GiB"
export function sizeOf(c: Pick<SlotClass, 'cores' | 'memory_mib' | 'gpus'>, slots = 1): string {
  const n = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
  return [
    n(c.cores * slots, 'core'),
    gib(c.memory_mib * slots),
    ...(c.gpus > 0 ? [n(c.gpus * slots, 'GPU')] : []),
  ].join(', ');
}

// As `souk lend` chooses: the smallest class, of GPUs where the machine has some.
export function usualClass(spec: Spec, others: Offer[], classes: SlotClass[]): SlotClass | undefined {
  const size = (c: SlotClass) => [c.gpus, c.cores, c.memory_mib];
  const fit = classes.filter((c) => !c.retired && slotsThatFit(c, spec, others, classes) > 0);
  const same = fit.filter((c) => c.gpus > 0 === spec.gpus > 0);
  return (same.length > 0 ? same : fit).sort((a, b) => {
    const [x, y] = [size(a), size(b)];
    return x.map((n, i) => n - (y[i] ?? 0)).find((d) => d !== 0) ?? 0;
  })[0];
}

export function priceText(price: number | undefined): string {
  return price === undefined ? 'market' : credits(price);
}
