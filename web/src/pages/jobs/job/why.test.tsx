// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { showWith } from '../../../testing/market';
import { aJob } from '../testing';
import { Why } from './why';

const why = {
  job: 'j1',
  state: 'queued',
  summary: 'it needs 2 slots and none match',
  needed: 2,
  matching: 0,
  groups: [{ obstacles: ['price'], offers: 3, slots: 4, example: 'o1' }],
  relaxations: [
    {
      kind: 'price',
      change: 'raise the limit price to 0.6',
      slots: 4,
      extra_per_hour: 0.2,
      flag: '--price 0.6',
    },
    { kind: 'slot_class', change: 'take class c4', slots: 2, extra_per_hour: 0.4, flag: '--class c4' },
  ],
};

test('a job that does not run says why, and one click changes it', async () => {
  const job = aJob({ state: 'queued', held: 0 });
  const changes = showWith(<Why job={job} />, { 'GET /v1/jobs/j1/why': why, 'PATCH /v1/jobs/j1': job });
  expect(await screen.findByText('It needs 2 slots and none match.')).toBeTruthy();
  expect(screen.getByText('3 offers with 4 slots ask more than your limit price')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Apply: raise the limit price to 0.6' }));
  await waitFor(() =>
    expect(changes).toEqual([{ method: 'PATCH', url: '/v1/jobs/j1', body: { limit: 0.6 } }]),
  );
  const clone = screen.getByRole('link', { name: 'Clone with class c4' });
  expect(clone.getAttribute('href')).toBe('/jobs/new?from=j1&class=c4');
});

test('a machine that would do, if other programs left it its cores, is named', async () => {
  const busy = { cores: 1.9, of: 2, since: '2026-11-20T14:02:00Z' };
  const unproved = [
    { offer: 'o1', machine: 'm1', name: 'desk', busy },
    { offer: 'o2', machine: 'm2', name: 'den' },
  ];
  showWith(<Why job={aJob({ state: 'queued', held: 0 })} />, { 'GET /v1/jobs/j1/why': { ...why, unproved } });
  expect(await screen.findByText(/^m1 \(desk\) is not yet proved: other programs use 1\.9 of 2 cores since /)).toBeTruthy();
  expect(screen.getByText('m2 (den) is not yet proved.')).toBeTruthy();
});
