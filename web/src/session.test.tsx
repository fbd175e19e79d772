// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { App } from './app';
import { showWith } from './testing/market';

const ready = { status: 'ready', version: '1', events: 0 };
const kNew = 'This market is new. The first account runs it.';

test('a market without accounts opens on signing up, and says why', async () => {
  showWith(<App />, { 'GET /readyz': { ...ready, new_market: true } });
  expect(await screen.findByText(kNew)).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Sign up' })).toBeTruthy();
  await userEvent.click(screen.getByRole('radio', { name: 'Log in' }));
  expect(screen.getByRole('button', { name: 'Log in' })).toBeTruthy();
});

test('any other market opens on logging in', async () => {
  showWith(<App />, { 'GET /readyz': { ...ready, new_market: false } });
  expect(await screen.findByRole('button', { name: 'Log in' })).toBeTruthy();
  expect(screen.queryByText(kNew)).toBeNull();
});

test('a market that is not ready does not keep people from logging in', async () => {
  showWith(<App />, {});
  expect(await screen.findByRole('button', { name: 'Log in' })).toBeTruthy();
});
