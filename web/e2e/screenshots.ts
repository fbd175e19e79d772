import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Page, test } from '@playwright/test';
import { expect, logIn } from './fixtures';
import { Market } from './market';

// The main pages of a small market at work, as pictures for the README: light, dark, on a phone.

const kFolder = fileURLToPath(new URL('../../docs/screenshots', import.meta.url));
const kExamples = fileURLToPath(new URL('../../examples', import.meta.url));

const kLooks = [
  { name: 'light', colorScheme: 'light' as const, viewport: { width: 1280, height: 800 } },
  { name: 'dark', colorScheme: 'dark' as const, viewport: { width: 1280, height: 800 } },
  { name: 'phone', colorScheme: 'light' as const, viewport: { width: 360, height: 740 } },
];

// Two people who lend, one who trains; some history, and a job that is running.
async function busyMarket(): Promise<Market> {
  const market = await Market.start();
  for (const name of ['ann', 'bo', 'cleo']) market.account(name);
  for (const name of ['ann', 'bo', 'cleo']) market.souk('ann', 'account', 'grant', name, '40');
  for (const [who, machine, price] of [
    ['bo', 'workshop', '0.18'],
    ['cleo', 'laptop', '0.25'],
  ] as const) {
    const { id } = market.souk<{ id: string }>(who, 'machine', 'add', machine, '--cores', '1', '--memory', '1G');
    const { token } = market.souk<{ token: string }>(who, 'machine', 'token', id);
    market.lend(['--cores', '1', '--memory', '1G', '--price', price], { SOUK_TOKEN: token });
  }
  await expect
    .poll(() => market.souk<{ items: unknown[] }>('ann', 'offers').items.length, { timeout: 60_000 })
    .toBe(2);
  const train = () => market.souk('ann', 'run', join(kExamples, 'mnist-quick.yaml'), '--yes', '--wait');
  train();
  train();
  market.souk('ann', 'run', join(kExamples, 'mnist.yaml'), '--yes');
  return market;
}

async function shoot(page: Page, look: string, name: string): Promise<void> {
  await page.waitForTimeout(1_500);
  await page.screenshot({ path: join(kFolder, `${name}-${look}.png`), animations: 'disabled' });
}

test('screenshots', async ({ browser }) => {
  mkdirSync(kFolder, { recursive: true });
  const market = await busyMarket();
  try {
    for (const { name: look, ...context } of kLooks) {
      const page = await (await browser.newContext(context)).newPage();
      await logIn(page, market, 'ann');
      await expect(page.getByRole('button', { name: 'account ann' })).toBeVisible();
      await shoot(page, look, 'home');
      const jobs = market.souk<{ items: { id: string }[] }>('ann', 'jobs').items;
      await page.goto(`${market.url}/jobs/${jobs[0]?.id}`);
      await shoot(page, look, 'job');
      await page.goto(`${market.url}/prices`);
      await shoot(page, look, 'prices');
      await page.goto(`${market.url}/lab`);
      await shoot(page, look, 'lab');
      await page.goto(`${market.url}/jobs/new`);
      await shoot(page, look, 'new-job');
      await page.goto(`${market.url}/operator`);
      await shoot(page, look, 'operator');
      const lender = await (await browser.newContext(context)).newPage();
      await logIn(lender, market, 'bo');
      await expect(lender.getByRole('button', { name: 'account bo' })).toBeVisible();
      const mine = market.souk<{ items: { id: string }[] }>('bo', 'machine', 'list').items;
      await lender.goto(`${market.url}/machines/${mine[0]?.id}`);
      await shoot(lender, look, 'machine');
      await page.context().close();
      await lender.context().close();
    }
  } finally {
    await market.stop();
  }
});
