import { expect, test } from 'vitest';
import { draftOf, editOf, hoursPerWeek, newOffer, type Offer, problemOf, sizeOf, type SlotClass, slotsThatFit, type Spec, unused, usualClass } from './offers';

const kZone = 'Europe/Berlin';

function offer(more: Partial<Offer> = {}): Offer {
  return {
    id: 'o1', machine: 'm1', machine_name: 'den', lender: 'ann', class: 'c1', slots: 2, free: 2, state: 'open',
    longest_lease: '24h', reliability: 0.9, region: '', provider: 'community', rtt_ms: 1,
    created: '2026-01-01T00:00:00Z', sandboxed: true, leases: 0, cores: 8, memory: 16, gpus: 0, gpu: '', vram: 0,
    asks: 0.2, package_count: 0, ...more,
  };
}
function slotClass(name: string, cores: number, gib: number, gpus = 0): SlotClass {
  return {
    name, cores, memory_mib: gib * 1024, gpus, gpu_memory_mib: gpus * 8192, price: 1, suggested: 1,
    mechanism: 'k-double', retired: false, leased: 0, wanted: 0, in_force: 'k-double', offered: 0,
  };
}
const spec: Spec = {
  cores: 8, memory_mib: 16_384, disk_mib: 0, gpus: 0, gpu_memory_mib: 0, gpu: '', cpu: 'x', os: 'y', region: '',
  provider: 'community', rtt_ms: 1,
};
const classes = [slotClass('c4', 4, 8), slotClass('c1', 1, 1), slotClass('g1', 4, 16, 1)];

test('an untouched offer sends nothing, however its windows were spelled', () => {
  for (const o of [
    offer(), offer({ price: 0.4 }), offer({ weekly: ['Mon-Fri 18:00-24:00 Europe/Berlin', 'Sat 00:00-24:00 UTC'] }),
    offer({ weekly: ['Tue 00:00-03:00 UTC', 'Mon 20:00-24:00 UTC'] }), offer({ until: '2027-01-01T00:00:00Z' }),
  ])
    expect(editOf(o, draftOf(o, kZone), kZone)).toBeUndefined();
});

test('only what was changed is sent', () => {
  const o = offer({ price: 0.4 });
  const draft = draftOf(o, kZone);
  expect(editOf(o, { ...draft, slots: 1 }, kZone)).toEqual({ slots: 1, market: false, always: false });
  expect(editOf(o, { ...draft, price: 0.5 }, kZone)).toEqual({ price: 0.5, market: false, always: false });
  expect(editOf(o, { ...draft, market: true }, kZone)).toEqual({ market: true, always: false });
  const nights = { zone: kZone, spans: [{ from: 1320, to: 1740 }], others: [] };
  expect(editOf(o, { ...draft, always: false, windows: nights }, kZone)).toEqual({
    weekly: ['Mon 22:00-05:00 Europe/Berlin'], market: false, always: false,
  });
});

test('an end stays until it is taken away', () => {
  const o = offer({ until: '2027-01-01T00:00:00Z', weekly: ['daily 22:00-06:00 UTC'] });
  const draft = draftOf(o, kZone);
  expect(editOf(o, { ...draft, always: true }, kZone)).toEqual({ weekly: [], market: false, always: false });
  expect(editOf(o, { ...draft, ends: false }, kZone)).toEqual({
    weekly: ['daily 22:00-06:00 UTC'], market: false, always: true,
  });
});

test('what cannot be saved is said before it is sent', () => {
  const draft = draftOf(offer(), kZone);
  expect(problemOf(draft)).toBeUndefined();
  expect(problemOf({ ...draft, market: false })).toContain('price');
  expect(problemOf({ ...draft, always: false })).toContain('Draw hours');
  const many = Array.from({ length: 40 }, (_, i) => ({ from: i * 60, to: i * 60 + i + 1 }));
  expect(problemOf({ ...draft, always: false, windows: { zone: 'UTC', spans: many, others: [] } })).toContain('32');
});

test('a new offer', () => {
  const draft = { ...draftOf(offer({ price: 0.4 }), kZone), slots: 3 };
  expect(newOffer('m1', 'c1', draft)).toEqual({ machine: 'm1', class: 'c1', slots: 3, price: 0.4 });
  expect(newOffer('m1', 'c1', { ...draft, market: true })).toEqual({ machine: 'm1', class: 'c1', slots: 3 });
});

test('slots that fit beside other offers', () => {
  const [c4, c1, g1] = classes as [SlotClass, SlotClass, SlotClass];
  expect(slotsThatFit(c1, spec, [], classes)).toBe(8);
  expect(slotsThatFit(c4, spec, [], classes)).toBe(2);
  expect(slotsThatFit(c1, spec, [offer({ class: 'c4', slots: 1 })], classes)).toBe(4);
  expect(slotsThatFit(c4, spec, [offer({ class: 'c1', slots: 8 })], classes)).toBe(0);
  expect(slotsThatFit(g1, spec, [], classes)).toBe(0);
  expect(slotsThatFit(g1, { ...spec, gpus: 2, gpu_memory_mib: 24_000 }, [], classes)).toBe(1);
});

test('the class that souk lend would choose', () => {
  expect(usualClass(spec, [], classes)?.name).toBe('c1');
  expect(usualClass({ ...spec, gpus: 1, gpu_memory_mib: 24_000 }, [], classes)?.name).toBe('g1');
  expect(usualClass({ ...spec, cores: 1, memory_mib: 512 }, [], classes)).toBeUndefined();
});

test('sizes and hours in words', () => {
  expect(sizeOf(slotClass('c1', 1, 1))).toBe('1 core, 1 GiB');
  expect(sizeOf(slotClass('g1', 4, 16, 1), 2)).toBe('8 cores, 32 GiB, 2 GPUs');
  expect(hoursPerWeek(draftOf(offer(), kZone))).toBe(168);
  expect(hoursPerWeek(draftOf(offer({ weekly: ['daily 22:00-06:00 UTC'] }), kZone))).toBe(56);
});

test('what a class leaves of a machine is said', () => {
  const [c4, c1] = classes as [SlotClass, SlotClass];
  expect(unused(c1, 8, spec, [], classes)).toContain('8 GiB of memory');
  expect(unused(c4, 2, spec, [], classes)).toBe('');
  expect(unused(c4, 1, spec, [offer({ slots: 3 })], classes)).toContain('1 core, 5 GiB of memory');
});
