// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { showWith } from '../../testing/market';
import { RunView } from './run-view';

const run = {
  id: 'r1', kind: 'scenario', state: 'failed', progress: 0, title: 'smith', mechanisms: ['k-double'], seeds: 3,
  created: '2026-01-01T00:00:00Z', error: 'it was stopped',
};

test('a run can be changed and run again, whatever came of it', async () => {
  const again = vi.fn();
  const scenario = 'name: smith\nseeds: 20\nmechanisms: [k-double]\n';
  showWith(<RunView id="r1" show={vi.fn()} again={again} />, { 'GET /v1/lab/runs/r1': { ...run, scenario } });
  fireEvent.click(await screen.findByText('Edit and run again'));
  expect(again).toHaveBeenCalledWith({ example: null, text: scenario, seeds: 3 });
});

test('a replay has no scenario to change', async () => {
  showWith(<RunView id="r1" show={vi.fn()} again={vi.fn()} />, { 'GET /v1/lab/runs/r1': { ...run, kind: 'replay' } });
  expect(await screen.findByText('Forget this run')).toBeTruthy();
  expect(screen.queryByText('Edit and run again')).toBeNull();
});
