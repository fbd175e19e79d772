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
