// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { showWith } from '../../../testing/market';
import { aLease } from '../testing';
import { Logs } from './logs';

let look: () => void;

// jsdom knows no screen: `look` scrolls to the logs.
beforeEach(() => {
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(tell: (entries: { isIntersecting: boolean }[]) => void) {
        look = () => tell([{ isIntersecting: true }]);
      }
      observe() {}
      disconnect() {}
    },
  );
});

const kLeases = [aLease({ state: 'closed', started: '2026-01-01T12:00:00Z' })];
const show = (log: object) =>
  showWith(<Logs leases={kLeases} machineOf={() => 'tower'} />, { 'GET /v1/leases/l1/log': log });

test('that nothing was printed is said after an answer, not before; then there is no empty box', async () => {
  show({ text: '', next: 0, ended: true });
  expect(screen.getByText('Reading the log')).toBeTruthy();
  look();
  expect(await screen.findByText(/^Nothing has been printed/)).toBeTruthy();
  expect(screen.queryByRole('log')).toBeNull();
});

test('what was printed is shown', async () => {
  show({ text: 'hello\n', next: 6, ended: true });
  look();
  expect(await screen.findByText(/^1 line/)).toBeTruthy();
  expect(screen.getByRole('log')).toBeTruthy();
});
