import { readFileSync } from 'node:fs';
import { expect, goTo, signUp, test } from './fixtures';
import { end } from './market';

// The whole of it, as people live it: lend, train, lose a worker, get the model, read the bill.

// The line that the console shows, as the words a shell makes of it.
function commandOf(line: string): { env: Record<string, string>; args: string[] } {
  const words = line.trim().split(/\s+/);
  const env: Record<string, string> = {};
  while (words[0]?.includes('=')) {
    const [name = '', value = ''] = (words.shift() ?? '').split('=');
    env[name] = value;
  }
  expect(words.slice(0, 2)).toEqual(['souk', 'lend']);
  return { env, args: words.slice(2) };
}

test('sign up, lend, train, lose a worker, fetch the model, read the ledger', async ({ page, browser, market }) => {
  test.setTimeout(240_000);
  await signUp(page, market, 'boss');

  // A lender, in a browser of her own.
  const lena = await (await browser.newContext()).newPage();
  await signUp(lena, market, 'lena');
  const agents = [];
  for (const name of ['tower', 'laptop']) {
    await goTo(lena, 'Machines');
    await lena.getByRole('button', { name: 'Lend a machine' }).first().click();
    const dialog = lena.getByRole('dialog');
    await dialog.getByLabel('Name of the machine').fill(name);
    await dialog.getByRole('button', { name: /Make the line|Continue|Next/ }).click();
    const line = await dialog.locator('code', { hasText: 'souk lend' }).first().innerText();
    const { env, args } = commandOf(line);
    expect(env.SOUK_TOKEN).toMatch(/^souk_/);
    agents.push(market.lend([...args, '--cores', '1', '--memory', '2G', '--class', 'c1'], env));
    await expect(dialog.getByText(/online/).first()).toBeVisible({ timeout: 30_000 });
    await lena.keyboard.press('Escape');
  }

  // She draws a window across midnight.
  await goTo(lena, 'Machines');
  await lena.getByRole('link', { name: 'laptop' }).click();
  const calendar = lena.getByRole('grid', { name: 'weekly windows' });
  await calendar.getByRole('gridcell', { name: /^Monday 22:00/ }).scrollIntoViewIfNeeded();
  const from = await calendar.getByRole('gridcell', { name: /^Monday 22:00/ }).boundingBox();
  const to = await calendar.getByRole('gridcell', { name: /^Tuesday 04:30/ }).boundingBox();
  if (!from || !to) throw new Error('the calendar has no such cells');
  await lena.mouse.move(from.x + from.width / 2, from.y + 2);
  await lena.mouse.down();
  await lena.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 12 });
  await lena.mouse.up();
  await expect(lena.getByText(/Mon(day)? 22:00.*05:00/).first()).toBeVisible();

  // The borrower trains the sample.
  await goTo(page, 'Jobs');
  await page.getByRole('link', { name: 'New job' }).first().click();
  await page.getByText(/MNIST/).first().click();
  for (let step = 0; step < 5 && !(await page.getByRole('button', { name: 'Make the plan' }).isVisible()); ++step)
    await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Make the plan' }).click();
  await page.getByRole('button', { name: 'Submit' }).click({ timeout: 60_000 });
  await expect(page).toHaveURL(/\/jobs\/j\d+$/);
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await expect(timeline.getByText('running').first()).toBeVisible({ timeout: 60_000 });

  // A worker is killed, and its lane says so.
  const job = page.url().split('/').at(-1) ?? '';
  await end(agents[0], 'SIGKILL');
  await expect(timeline.getByText('lost').first()).toBeVisible({ timeout: 90_000 });

  await expect(page.getByText('succeeded').first()).toBeVisible({ timeout: 150_000 });
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download the model' }).click();
  const model = readFileSync(await (await download).path());
  const head = Number(model.readBigUInt64LE(0));
  expect(Object.keys(JSON.parse(model.subarray(8, 8 + head).toString()) as object).length).toBeGreaterThan(2);

  // The bill: what was spent is what the ledger says, and all balances sum to nothing.
  await goTo(page, 'Ledger');
  await expect(page.getByText(job).first()).toBeVisible();
  const ledger = (await (await page.request.get(`${market.url}/v1/ledger`)).json()) as { sum: number };
  expect(ledger.sum).toBe(0);
});
