// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { useState } from 'react';
import { expect, test, vi } from 'vitest';
import { showWith } from '../../testing/market';
import { eventually } from '../../testing/patience';
import { noDraft } from './scenario';
import { StartPanel } from './start-panel';

const smith = 'name: smith\nworld: book\nhorizon: 40\nseeds: 20\nmechanisms: [k-double, posted]\nlenders:\n  - name: sellers\n    count: 11\n';
const scenarios = {
  items: [{ name: 'smith', summary: 'Prices come to equilibrium.', scenario: smith }],
  limits: { time: '2m', mechanisms: 20, seeds: 200, agents: 2000, prices: 1, jobs: 1, trades: 1, waiting: 3, kept: 20 },
};
const answers = { 'GET /v1/mechanisms': { items: [] }, 'POST /v1/lab/runs': { id: 'r7' } };

function Lab({ show }: { show: (id: string) => void }) {
  const [draft, setDraft] = useState(noDraft);
  return <StartPanel scenarios={scenarios} draft={draft} setDraft={setDraft} show={show} />;
}

// A button that still waits for an answer hears no click.
async function run() {
  const button = screen.getByRole('button', { name: 'Run' });
  await eventually(() => expect(button).toHaveProperty('disabled', false));
  fireEvent.click(button);
}

test('an example runs as it is, and with what was changed in it', async () => {
  const show = vi.fn();
  const changes = showWith(<Lab show={show} />, answers);
  fireEvent.click(screen.getByLabelText('Start from an example', { selector: 'input' }));
  fireEvent.click(await screen.findByText('smith'));
  await run();
  await eventually(() => expect(show).toHaveBeenCalledWith('r7'));
  fireEvent.change(screen.getByLabelText('sellers'), { target: { value: '30' } });
  fireEvent.change(screen.getByLabelText('Seeds'), { target: { value: '5' } });
  await run();
  await eventually(() => expect(show).toHaveBeenCalledTimes(2));
  expect(changes.map((c) => c.body)).toEqual([
    { scenario: smith },
    { scenario: smith.replace('count: 11', 'count: 30'), seeds: 5 },
  ]);
});

test('what the server finds wrong is said beside the scenario', async () => {
  showWith(<Lab show={vi.fn()} />, { 'GET /v1/mechanisms': { items: [] } });
  fireEvent.change(screen.getByLabelText('Scenario'), { target: { value: 'name: x' } });
  await run();
  expect(await screen.findByText(/no answer to POST/)).toBeTruthy();
});
