import { expect, goTo, logIn, signUp, test } from './fixtures';

test.use({ allowed: [/401|Unauthorized|Failed to load resource|ERR_CONNECTION_REFUSED|net::ERR/] });

test('a wrong password is told in words and changes nothing', async ({ page, market }) => {
  market.account('boss');
  await logIn(page, market, 'boss', 'not the password');
  await expect(page.getByRole('alert')).toContainText('password');
  await expect(page.getByRole('button', { name: 'Log in' })).toBeVisible();
});

test('the session is a cookie out of reach of scripts, and ends when it is told to', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  const cookies = await page.context().cookies();
  expect(cookies.map((c) => [c.name, c.httpOnly, c.sameSite])).toEqual([['souk_session', true, 'Strict']]);
  expect(await page.evaluate(() => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain('souk_');
  await page.getByRole('button', { name: 'account boss' }).click();
  await page.getByRole('menuitem', { name: 'Log out', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Log in' })).toBeVisible();
  expect(await page.context().cookies()).toEqual([]);
});

test('a session that was ended elsewhere asks for the password and goes on where it was', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  await goTo(page, 'Ledger');
  market.souk('boss', 'login', 'boss');
  market.souk('boss', 'logout', '--everywhere');
  await expect(page.getByText('Your session has ended')).toBeVisible();
  await page.getByLabel('Name').fill('boss');
  await page.getByLabel('Password', { exact: false }).first().fill('correct horse battery staple');
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Ledger' })).toBeVisible();
});

test('another site cannot act with the cookie', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  const answer = await page.request.post(`${market.url}/v1/feedback`, {
    data: { category: 'idea', text: 'from elsewhere' },
    headers: { 'Idempotency-Key': 'k1', Origin: 'https://elsewhere.example' },
  });
  expect(answer.status()).toBe(403);
  expect((await (await page.request.get(`${market.url}/v1/feedback`)).json()).items).toEqual([]);
});

test('a page outlives a restart of the server', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  await goTo(page, 'Machines');
  await market.kill();
  await expect(page.getByText('The market does not answer')).toBeVisible();
  await market.serve();
  await expect(page.getByText('The market does not answer')).toBeHidden();
  // What happens now is seen without a reload.
  await page.evaluate(() => Object.assign(window, { same: true }));
  market.souk('boss', 'login', 'boss');
  market.souk('boss', 'machine', 'add', 'tower', '--cores', '2', '--memory', '2G');
  await expect(page.getByText('tower')).toBeVisible();
  expect(await page.evaluate(() => 'same' in window)).toBe(true);
});
