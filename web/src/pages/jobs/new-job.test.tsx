// @vitest-environment jsdom
import { useQueryClient } from '@tanstack/react-query';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { type ReactNode, useState } from 'react';
import { expect, test } from 'vitest';
import type { Schemas } from '../../api/client';
import { enter } from '../../session';
import { showWith } from '../../testing/market';
import NewJobPage from './new-job';
import { aJob } from './testing';

const me = {
  id: 'a1',
  name: 'ann',
  operator: false,
  available: 100,
  bonus: 0,
  escrow: 0,
  created: '2026-01-01T12:00:00Z',
};

function LoggedIn({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  useState(() => enter(client, me));
  return children;
}

const yaml =
  'name: digits\nkind: train\nmodel: lenet\ndata: mnist\nworkers: 1..2\nprice: {limit: 2, budget: 1}\n';
const candidate = (workers: number, time: string, cost: number, chosen: boolean) => ({
  class: 'c1',
  cluster: `${workers} x ada`,
  workers,
  time,
  time_low: time,
  time_high: time,
  cost,
  cost_low: cost,
  cost_high: cost,
  limit: 'compute',
  chosen,
});
const job = { name: 'digits', kind: 'train', workers: { min: 1, max: 2 }, limit: 2, budget: 1, priority: 0 };
const answers = {
  'GET /v1/me': me,
  'GET /v1/samples': { items: [{ name: 'digits', title: 'Handwritten digits', description: 'LeNet', yaml }] },
  'GET /v1/training/choices': { models: [], data: [], rules: [], codecs: [] },
  'GET /v1/classes': { items: [] },
  'POST /v1/jobs/prepare': { job, notes: ['trains on 60000 samples'] },
  'POST /v1/plan': {
    candidates: [candidate(1, '10m', 0.4, false), candidate(2, '5m', 0.5, true)],
    why: 'the fastest within the budget',
    profiled: true,
    runs: 2,
    guessed: true,
  },
  'POST /v1/jobs': aJob({ id: 'j7' }),
};

test('from a sample to a submitted job, with the plan before it', async () => {
  const user = userEvent.setup();
  const changes = showWith(
    <LoggedIn>
      <NewJobPage />
    </LoggedIn>,
    answers,
  );
  // Without a choice it says what is missing.
  await user.click(screen.getByRole('button', { name: 'Next' }));
  expect(screen.getByText('First choose what to run.')).toBeTruthy();

  await user.click(await screen.findByRole('radio', { name: 'Handwritten digits' }));
  const file = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Job file (YAML)' });
  expect(file.value).toBe(yaml);

  await user.click(screen.getByRole('button', { name: 'Next' }));
  const most = screen.getByRole('textbox', { name: 'At most' });
  await user.clear(most);
  await user.type(most, '4');
  expect(file.value).toContain('workers: 1..4');

  await user.click(screen.getByRole('button', { name: 'Next' }));
  await user.click(screen.getByRole('button', { name: 'Make the plan' }));
  const table = await screen.findByRole('table', { name: 'Candidates' });
  expect(within(table).getByText('recommended')).toBeTruthy();
  expect(screen.getByText(/Recommended: the fastest within the budget/)).toBeTruthy();
  expect(changes[0]).toMatchObject({ url: '/v1/jobs/prepare', body: { yaml: file.value } });

  // What is picked is what the file says, and back again.
  await user.click(within(table).getByRole('radio', { name: '1 worker' }));
  expect(file.value).toContain('workers: 1\n');
  await user.click(within(table).getByRole('radio', { name: '2 workers' }));
  expect(file.value).toContain('workers: 1..4\n');
  await user.click(within(table).getByRole('radio', { name: '1 worker' }));
  await user.click(screen.getByRole('button', { name: 'Submit' }));
  await waitFor(() => expect(window.location.pathname).toBe('/jobs/j7'));
  expect(changes.at(-1)).toEqual({
    method: 'POST',
    url: '/v1/jobs',
    body: { ...job, workers: { min: 1, max: 1 } },
  });
});

test('a copy keeps the data of the first job and changes what the form says', async () => {
  const user = userEvent.setup();
  const train: Schemas['Train'] = {
    trainer: 'torch',
    config: { model: '"lenet"' },
    rule: '',
    codec: 'fp32',
    replicate: 0,
    epochs: 12,
    batch: 32,
    lr: 0.02,
    local_batch: 8,
    local_steps: 0,
    validations: 1,
    seed: 1,
    measure: false,
    shards: [{ blob: 'ab', samples: 60_000 }],
  };
  const first = aJob({ batch: { run: 'souk-torch', setup: '', network: 'none', train } });
  window.history.replaceState(null, '', '/jobs/new?from=j1');
  const changes = showWith(
    <LoggedIn>
      <NewJobPage />
    </LoggedIn>,
    { ...answers, 'GET /v1/jobs/j1': first },
  );
  const epochs = await screen.findByRole('textbox', { name: 'Epochs' });
  await user.clear(epochs);
  await user.type(epochs, '3');
  await user.click(screen.getByRole('button', { name: 'Next' }));
  await user.click(screen.getByRole('button', { name: 'Next' }));
  await user.click(screen.getByRole('button', { name: 'Make the plan' }));
  await screen.findByRole('table', { name: 'Candidates' });
  await user.click(screen.getByRole('button', { name: 'Submit' }));
  await waitFor(() => expect(window.location.pathname).toBe('/jobs/j7'));
  expect(changes.map((c) => c.url)).toEqual(['/v1/plan', '/v1/jobs']);
  expect(changes.at(-1)?.body).toMatchObject({
    name: 'mnist',
    budget: 10,
    batch: { train: { epochs: 3, shards: train.shards } },
  });
});

test('a sample that the address names is picked', async () => {
  window.history.replaceState(null, '', '/jobs/new?sample=digits');
  showWith(
    <LoggedIn>
      <NewJobPage />
    </LoggedIn>,
    answers,
  );
  await waitFor(() =>
    expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Job file (YAML)' }).value).toBe(yaml),
  );
});

test.each([
  [0.4, 1],
  [undefined, 0],
])('a training is measured only where a machine could run it: cheapest ask %s', async (cheapest, buttons) => {
  const user = userEvent.setup();
  window.history.replaceState(null, '', '/jobs/new?sample=digits');
  const asks = { class: 'c1', suggested: 0.25, limit: 0.5, limit_given: true, workers: 1 };
  showWith(
    <LoggedIn>
      <NewJobPage />
    </LoggedIn>,
    {
      ...answers,
      'POST /v1/jobs/prepare': { job: { ...job, batch: { train: {} } } },
      'POST /v1/plan': { why: 'it was never measured', profiled: false, prices: [{ ...asks, cheapest }] },
    },
  );
  await waitFor(() =>
    expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Job file (YAML)' }).value).toBe(yaml),
  );
  await user.click(screen.getByRole('button', { name: /Plan$/ }));
  expect(await screen.findByText('It was never measured.')).toBeTruthy();
  expect(screen.queryAllByRole('button', { name: 'Measure it first' })).toHaveLength(buttons);
});

test('a plan says that a larger class will be taken where its own has nothing on offer', async () => {
  const user = userEvent.setup();
  window.history.replaceState(null, '', '/jobs/new?sample=digits');
  showWith(
    <LoggedIn>
      <NewJobPage />
    </LoggedIn>,
    {
      ...answers,
      'POST /v1/jobs/prepare': { job: { ...job, batch: { train: {} } } },
      'POST /v1/plan': {
        why: 'it was never measured',
        profiled: false,
        prices: [{ class: 'c1', suggested: 0.25, limit: 4, limit_given: true, workers: 0 }],
        elsewhere: 'no slot of c1 that fits is on offer; 1 of g1 is, at 4: it will be taken',
      },
    },
  );
  await waitFor(() =>
    expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Job file (YAML)' }).value).toBe(yaml),
  );
  await user.click(screen.getByRole('button', { name: /Plan$/ }));
  expect(await screen.findByText(/^No slot of c1 that fits is on offer; 1 of g1 is, at 4/)).toBeTruthy();
  expect(screen.queryByText(/the job would wait/)).toBeNull();
});

test('renting from a lender says that any of their machines may do it', async () => {
  window.history.replaceState(null, '', '/jobs/new?class=c1&lender=lena&machine=tower');
  showWith(
    <LoggedIn>
      <NewJobPage />
    </LoggedIn>,
    answers,
  );
  expect(await screen.findByText('Renting from lena')).toBeTruthy();
  expect(screen.getByText(/It runs on tower or on any other machine of theirs/)).toBeTruthy();
});

// The page of a new job, with that way to say it chosen.
async function begin(kind: string) {
  const user = userEvent.setup();
  window.history.replaceState(null, '', '/jobs/new');
  showWith(
    <LoggedIn>
      <NewJobPage />
    </LoggedIn>,
    answers,
  );
  await user.click(await screen.findByRole('radio', { name: kind }));
  return user;
}

test('a target is percent in the form and a share in the file, and says what is wrong as it is typed', async () => {
  const user = await begin('Model and data');
  const file = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Job file (YAML)' });
  const target = screen.getByRole<HTMLInputElement>('textbox', { name: 'Target accuracy' });
  await user.type(target, '99.9');
  expect(file.value).toContain('target: {accuracy: 0.999}');
  await user.tab();
  expect(target.value).toBe('99.9%');
  await user.clear(target);
  await user.type(target, '120');
  expect(screen.getByText('more than 0% and at most 100%')).toBeTruthy();
  await user.tab();
  expect(target.value).toBe('120%'); // Nothing is moved into the range behind one's back.
  await user.clear(target);
  const rate = screen.getByRole<HTMLInputElement>('textbox', { name: 'Learning rate', hidden: true });
  await user.type(rate, '0.05');
  expect(rate.value).toBe('0.05');
  expect(file.value).toContain('lr: 0.05');
  expect(screen.queryByText('choose a model')).toBeNull();
});

test('a value that only the file can say is shown at its field', async () => {
  const user = await begin('Job file');
  const file = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Job file (YAML)' });
  await user.click(file);
  await user.paste('run: echo hi\nworkers: many\n');
  await user.click(screen.getByRole('button', { name: 'Next' }));
  const most = screen.getByRole<HTMLInputElement>('textbox', { name: 'At most' });
  expect(most.placeholder).toBe('in the file: many');
});
