// @vitest-environment jsdom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { LendDialog } from './lend-dialog';

afterEach(() => vi.unstubAllGlobals());

type Answer = { status: number; body: unknown };

// A market that answers by method and path, and remembers what it was asked.
function market(answers: Record<string, () => Answer>) {
  const asked: { what: string; body: unknown }[] = [];
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const what = `${init.method} ${url}`;
    asked.push({ what, body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined });
    const { status, body } = answers[what]?.() ?? { status: 404, body: { detail: `no ${what}` } };
    return Promise.resolve(new Response(JSON.stringify(body), { status }));
  });
  return asked;
}

function show() {
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <LendDialog opened onClose={() => {}} />
      </QueryClientProvider>
    </MantineProvider>,
  );
}

const spec = { cores: 1, memory_mib: 1, disk_mib: 0, gpus: 0, gpu_memory_mib: 0, gpu: '', cpu: '', os: '', region: '', provider: 'community', rtt_ms: 0 };
const machine = { id: 'm7', name: 'den', owner: 'ann', spec, reliability: 0.9, online: true, created: '2026-01-01T00:00:00Z' };

test('a name makes a machine, its token and the line; the machine shows when its agent has spoken', async () => {
  let known = { ...machine };
  const asked = market({
    'POST /v1/machines': () => ({ status: 201, body: machine }),
    'POST /v1/tokens': () => ({ status: 201, body: { id: 't1', token: 'souk_secret', scope: 'machine' } }),
    'GET /v1/machines/m7': () => ({ status: 200, body: known }),
  });
  show();
  await userEvent.type(screen.getByLabelText(/Name of the machine/), 'den');
  await userEvent.click(screen.getByRole('button', { name: 'Make the line to paste' }));
  await screen.findByText(`SOUK_TOKEN=souk_secret souk lend --server ${window.location.origin}`);
  screen.getByRole('button', { name: 'copy the line to paste, with souk' });
  expect(asked.find((a) => a.what === 'POST /v1/tokens')?.body).toMatchObject({ scope: 'machine', machine: 'm7' });
  screen.getByText(/Waiting for den/);
  known = { ...machine, spec: { ...spec, cores: 8, cpu: 'Fast', os: 'Debian' } };
  await screen.findByText('den is here');
  screen.getByText('Fast');
});

test.each([
  [{ sha256: 'ab'.repeat(32), bytes: 57_300_000 }, /fetches the built-in trainer \(58 MB\) if the computer has none/],
  [undefined, /No trainer comes with it: trainings with a built-in model go to other machines/],
])('the line says whether a trainer comes with it', async (trainer, said) => {
  market({
    'POST /v1/machines': () => ({ status: 201, body: machine }),
    'POST /v1/tokens': () => ({ status: 201, body: { id: 't1', token: 'souk_secret', scope: 'machine' } }),
    'GET /v1/machines/m7': () => ({ status: 200, body: machine }),
    'GET /v1/agent': () => ({
      status: 200,
      body: { available: true, version: '0.1.0', sha256: 'cd'.repeat(32), bytes: 1, public_url: '', trainer },
    }),
  });
  show();
  await userEvent.type(screen.getByLabelText(/Name of the machine/), 'den');
  await userEvent.click(screen.getByRole('button', { name: 'Make the line to paste' }));
  await screen.findByText(said);
});

test('where the market has souk to give, the line is for a computer that has nothing', async () => {
  const sha256 = '0123456789abcdef'.repeat(4);
  market({
    'POST /v1/machines': () => ({ status: 201, body: machine }),
    'POST /v1/tokens': () => ({ status: 201, body: { id: 't1', token: 'souk_secret', scope: 'machine' } }),
    'GET /v1/machines/m7': () => ({ status: 200, body: machine }),
    'GET /v1/agent': () => ({
      status: 200,
      body: { available: true, version: '0.1.0', sha256, bytes: 14_200_000, public_url: 'https://market.example' },
    }),
  });
  show();
  await userEvent.type(screen.getByLabelText(/Name of the machine/), 'den');
  await userEvent.click(screen.getByRole('button', { name: 'Make the line to paste' }));
  await screen.findByText('curl -fsS https://market.example/lend | sh -s souk_secret');
  screen.getByText(sha256);
  screen.getByText(/souk 0.1.0 \(15 MB\)/);
  screen.getByText('SOUK_TOKEN=souk_secret souk lend --server https://market.example');
});

test('a name that is taken is said beside its field', async () => {
  market({
    'POST /v1/machines': () => ({
      status: 409,
      body: { detail: "you have a machine 'den' already: m1", hint: 'choose another name', field: 'name' },
    }),
  });
  show();
  await userEvent.type(screen.getByLabelText(/Name of the machine/), 'den');
  await userEvent.click(screen.getByRole('button', { name: 'Make the line to paste' }));
  await screen.findByText("you have a machine 'den' already: m1. choose another name");
});
