// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { useSession } from '../session';
import { showWith } from '../testing/market';
import { answerText } from './ask-credits';
import { GetCredits, toAskFor } from './get-credits';

const kMe = { id: 'a2', name: 'bob', operator: false, available: 0, bonus: 0, escrow: 0, created: '2026-01-01T00:00:00Z' };

function show(me: object, requests: object[]) {
  localStorage.setItem('souk.signed-in', 'yes');
  return showWith(<AsMe />, { 'GET /v1/me': me, 'GET /v1/credits/requests': { items: requests },
    'POST /v1/credits/requests': {}, 'POST /v1/accounts/boss/grant': {} });
}

// useMe wants to know who it is before anything is shown.
function AsMe() {
  return useSession().state === 'in' ? <GetCredits need={12} have={0} /> : null;
}

test('whole credits, a few more than are missing', () => {
  expect(toAskFor(12, 0)).toBe(15);
  expect(toAskFor(12, 11.5)).toBe(5);
  expect(toAskFor(0, 0)).toBe(5);
});

test('what became of a request is said in words', () => {
  const asked = { account: 'bob', amount: 20, why: 'x', at: '2026-01-01T00:00:00Z' };
  expect(answerText(asked)).toContain('not answered yet');
  expect(answerText({ ...asked, answered: asked.at, word: 'lend first' })).toBe(
    'The operator declined your request: “lend first”.',
  );
  expect(answerText({ ...asked, answered: asked.at, granted: 5 })).toBe('The operator granted 5 credits.');
});

test('who has none is told the ways to get some, and can ask', async () => {
  const changes = show(kMe, []);
  expect(await screen.findByRole('link', { name: 'lend a machine' })).toBeTruthy();
  await userEvent.type(await screen.findByLabelText(/What for/), 'a first model');
  await userEvent.click(screen.getByRole('button', { name: 'Ask the operator' }));
  await waitFor(() =>
    expect(changes).toEqual([
      { method: 'POST', url: '/v1/credits/requests', body: { amount: 15, why: 'a first model' } },
    ]),
  );
});

test('an operator gives them to herself', async () => {
  const changes = show({ ...kMe, name: 'boss', operator: true }, []);
  await userEvent.click(await screen.findByRole('button', { name: 'Give yourself 15 credits' }));
  await waitFor(() => expect(changes[0]?.url).toBe('/v1/accounts/boss/grant'));
});
