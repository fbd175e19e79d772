import { expect, test } from 'vitest';
import {
  conditionsOf, environmentText, filterOf, gpuText, kNoFilter, type Offer, quoted, rentLink, sorted, whereOf, windowText, without,
} from './filter';

const offer = (more: Partial<Offer> = {}): Offer => ({
  id: 'o1', machine: 'm1', machine_name: 'tower', lender: 'lena', class: 'c1', slots: 2, free: 2, state: 'open',
  longest_lease: '24h', reliability: 0.9, region: 'eu', provider: 'community', rtt_ms: 20,
  created: '2026-01-01T00:00:00Z', sandboxed: true, leases: 0, cores: 8, memory: 31.3, gpus: 0, gpu: '', vram: 0,
  asks: 0.2, package_count: 0, ...more,
});

test('what is asked for becomes a filter of the market, one condition each', () => {
  expect(whereOf(kNoFilter)).toBe('state=open');
  expect(whereOf({ ...kNoFilter, gpu: 'A100', vram: '40', price: '1' })).toBe(
    'state=open and gpu=A100 and vram>=40 and asks<=1',
  );
  const all = { ...kNoFilter, all: 'yes', packages: 'my pkg', memory: 'much', proven: 'yes' };
  expect(conditionsOf(all).map((c) => c.key)).toEqual(['packages', 'proven']);
  expect(without({ ...all, gpu: 'x' }, 'gpu').gpu).toBe('');
  expect(without(kNoFilter, 'all').all).toBe('yes');
});

test('texts are quoted as the market reads them', () => {
  expect(quoted('A100')).toBe('A100');
  expect(quoted("it's")).toBe("'it\\'s'");
  expect(quoted('and')).toBe("'and'");
  expect(quoted('RTX 4090')).toBe("'RTX 4090'");
});

test('the address says what is looked for', () => {
  expect(filterOf(new URLSearchParams('gpu=A100&price=1&other=2'))).toEqual({ ...kNoFilter, gpu: 'A100', price: '1' });
});

test('what is not known comes last, whatever the order', () => {
  const [fast, slow, unknown] = [
    offer({ id: 'o1', speed: 4, per_speed: 0.3, asks: 1.2, leases: 3, reliability: 0.8 }),
    offer({ id: 'o2', speed: 1, per_speed: 0.2, asks: 0.2, leases: 9, reliability: 0.99 }),
    offer({ id: 'o3', asks: 0.1 }),
  ];
  const ids = (by: Parameters<typeof sorted>[1]) => sorted([fast, slow, unknown], by).map((o) => o.id);
  expect(ids('price')).toEqual(['o3', 'o2', 'o1']);
  expect(ids('speed')).toEqual(['o1', 'o2', 'o3']);
  expect(ids('value')).toEqual(['o2', 'o1', 'o3']);
  expect(ids('reliability')).toEqual(['o2', 'o1', 'o3']);
});

test('a machine is described in words', () => {
  expect(gpuText(offer())).toBe('none');
  expect(gpuText(offer({ gpus: 2, gpu: 'A100', vram: 40 }))).toBe('2 × A100, 40 GiB');
  expect(environmentText(offer())).toBe('nothing beyond the system');
  expect(environmentText(offer({ packages: ['@internet', 'a', 'b', 'c', 'd'], package_count: 9 }))).toBe(
    'internet, a, b, c and 5 more',
  );
  expect(windowText(offer({ weekly: ['Mon 22:00-05:00 UTC'] }))).toBe('Mon 22:00-05:00 UTC');
  expect(rentLink(offer({ price: 0.3 }))).toBe('/jobs/new?class=c1&lender=lena&machine=tower&price=0.3');
});
