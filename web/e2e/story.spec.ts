import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, goTo, needsMnist, signUp, test } from './fixtures';
import { Gate } from './gate';
import { end, type Market } from './market';

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

// As the console says: a name, a line to paste, and the machine shows what it has.
async function lend(page: Page, market: Market, gate: Gate, name: string): Promise<ChildProcess> {
  await goTo(page, 'Machines');
  await page.getByRole('button', { name: 'Lend a machine' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name of the machine').fill(name);
  await dialog.getByRole('button', { name: 'Make the line to paste' }).click();
  const line = await dialog.locator('code', { hasText: 'souk lend' }).first().innerText();
  const { env, args } = commandOf(line);
  expect(env.SOUK_TOKEN).toMatch(/^souk_/);
  const onward = args.map((word) => (word === market.url ? gate.url : word));
  expect(onward).toContain(gate.url);
  const agent = market.lend([...onward, '--cores', '1', '--memory', '2G', '--class', 'c1'], env);
  await expect(dialog.getByText(`${name} is here`)).toBeVisible();
  await page.keyboard.press('Escape');
  return agent;
}

test('sign up, lend, train, lose a worker, fetch the model, read the ledger', async ({ page, browser, market }) => {
  needsMnist();
  test.setTimeout(1_200_000);
  await signUp(page, market, 'boss');
  // Long before the end of the training the workers have to wait, until the test lets them go on.
  const gate = await Gate.before(market, 6);

  // A lender, in a browser of her own.
  const lena = await (await browser.newContext({ viewport: { width: 1280, height: 1800 } })).newPage();
  await signUp(lena, market, 'lena');
  const tower = await lend(lena, market, gate, 'tower');
  await lend(lena, market, gate, 'laptop');

  // She draws a window across midnight.
  await goTo(lena, 'Machines');
  await lena.getByRole('link', { name: 'laptop' }).click();
  await lena.getByText('In weekly windows').click();
  const calendar = lena.getByRole('grid', { name: 'weekly windows' });
  await expect(lena.getByLabel('loading')).toHaveCount(0); // Nothing above it moves it any more.
  await calendar.getByRole('gridcell', { name: /^Monday 22:00/ }).scrollIntoViewIfNeeded();
  const from = await calendar.getByRole('gridcell', { name: /^Monday 22:00/ }).boundingBox();
  const to = await calendar.getByRole('gridcell', { name: /^Tuesday 04:30/ }).boundingBox();
  if (!from || !to) throw new Error('the calendar has no such cells');
  await lena.mouse.move(from.x + from.width / 2, from.y + 2);
  await lena.mouse.down();
  await lena.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 12 });
  await lena.mouse.up();
  await expect(lena.getByText('Mon 22:00-05:00')).toBeVisible();
  await lena.getByRole('button', { name: 'Save changes' }).click();
  const windows = async () => {
    const { items } = (await (await lena.request.get(`${market.url}/v1/offers`)).json()) as {
      items: { machine_name: string; weekly: string[] }[];
    };
    return items.find((o) => o.machine_name === 'laptop')?.weekly;
  };
  await expect.poll(windows).toEqual([expect.stringMatching(/^Mon 22:00-05:00 /)]);
  await lena.getByText('Always', { exact: true }).first().click();
  await lena.getByRole('button', { name: 'Save changes' }).click();
  await expect.poll(windows).toEqual([]);

  // The borrower gives herself credits, as the operator may, and trains the sample.
  market.souk('boss', 'login', 'boss');
  market.souk('boss', 'account', 'grant', 'boss', '20');
  await goTo(page, 'Jobs');
  await page.getByRole('link', { name: 'New job' }).first().click();
  await page.getByText('Handwritten digits with LeNet (MNIST)').click();
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(page.getByRole('heading', { name: 'One worker' })).toBeVisible();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Make the plan' }).click();
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(page).toHaveURL(/\/jobs\/j\d+$/);
  const timeline = page.getByRole('region', { name: 'Timeline' });
  // Both have had work that was accepted.
  await expect(timeline.getByText(/^running, [1-9]\d* units?$/)).toHaveCount(2);

  // A worker is killed, and its lane says so; a machine that comes takes its place.
  const job = page.url().split('/').at(-1) ?? '';
  await end(tower, 'SIGKILL');
  market.souk('boss', 'settings', 'set', 'silence=5s');
  const lane = (machine: string) => timeline.getByRole('listitem').filter({ hasText: machine });
  await expect(lane('tower').getByText(/^lost/).first()).toBeVisible();
  market.souk('boss', 'settings', 'set', 'silence=60s');
  await lend(lena, market, gate, 'attic');
  await expect(lane('attic').getByText(/^running, [1-9]\d* units?$/)).toBeVisible();

  gate.open();
  await expect(page.getByText('succeeded').first()).toBeVisible({ timeout: 600_000 });
  gate.close();
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
