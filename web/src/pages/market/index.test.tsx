// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { showWith } from '../../testing/market';
import MarketPage from '.';

const kOffer = {
  id: 'o1', machine: 'm1', machine_name: 'tower', lender: 'lena', class: 'c1', slots: 2, free: 2, state: 'open',
  longest_lease: '24h', reliability: 0.9, region: 'eu', provider: 'community', rtt_ms: 20, price: 0.3, weekly: [],
  created: '2026-01-01T00:00:00Z', sandboxed: true, leases: 0, cores: 8, memory: 32, gpus: 1, gpu: 'A100', vram: 40,
  asks: 0.3, speed: 1.5, per_speed: 0.2, packages: ['python3-torch'], package_count: 1,
};
const kProven = { ...kOffer, id: 'o2', machine_name: 'laptop', leases: 34, reliability: 0.97, asks: 0.1, price: undefined };

test('every offer shows what it has, is worth and costs, the cheapest first', async () => {
  window.history.replaceState({}, '', '/market');
  showWith(<MarketPage />, {
    'GET /v1/offers': { items: [kOffer, kProven], looked_at: 2, left_out: [{ condition: 'state = open', offers: 0, only: 0 }] },
  });
  const rows = (await screen.findAllByRole('row')).slice(1);
  expect(rows[0]?.textContent).toContain('laptop');
  expect(rows[0]?.textContent).toContain('97% of 34 leases');
  expect(rows[0]?.textContent).toContain('0.1 (market)');
  for (const text of ['tower', 'A100, 40 GiB', '32 GiB', '1.50', 'python3-torch', 'eu, 20 ms', 'new', '0.3', 'always'])
    expect(rows[1]?.textContent).toContain(text);
  expect(rows[1]?.textContent).not.toContain('90%');
  expect(screen.getByRole('link', { name: 'Rent from lena: tower, c1' }).getAttribute('href')).toContain('/jobs/new?class=c1&lender=lena');
});

test('what is typed is in the address, to be shared', async () => {
  window.history.replaceState({}, '', '/market');
  showWith(<MarketPage />, { 'GET /v1/offers': { items: [], looked_at: 0, left_out: [] } });
  expect(await screen.findByText('Nothing is on offer yet')).toBeTruthy();
  await userEvent.type(screen.getByLabelText('Price at most'), '1');
  expect(window.location.search).toBe('?price=1');
  await userEvent.click(screen.getByLabelText('With a history'));
  expect(window.location.search).toBe('?price=1&proven=yes');
  await userEvent.click(screen.getByRole('button', { name: 'Clear the filter' }));
  expect(window.location.search).toBe('');
});
