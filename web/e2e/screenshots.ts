import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Page, test } from '@playwright/test';
import { expect, logIn } from './fixtures';
import { end, Market } from './market';

// The main pages of a small market at work, as pictures for the README: light, dark, on a phone.

const kFolder = fileURLToPath(new URL('../../docs/screenshots', import.meta.url));
const kExamples = fileURLToPath(new URL('../../examples', import.meta.url));

const kLooks = [
  { name: 'light', colorScheme: 'light' as const, viewport: { width: 1280, height: 800 } },
  { name: 'dark', colorScheme: 'dark' as const, viewport: { width: 1280, height: 800 } },
  { name: 'phone', colorScheme: 'light' as const, viewport: { width: 390, height: 844 } },
];

// Long enough to see: some epochs of a small network.
const kJob = `name: digits
kind: train
model: {name: mlp, hidden: 48}
data: mnist
epochs: 24
validate: {per_epoch: 4}
lr: {start: 0.02, end: 0.002}
workers: 1..3
price: {limit: 0.6, budget: 2}
`;

// Two people who lend, one who trains; a worker is lost on the way.
async function busyMarket(): Promise<Market> {
  const market = await Market.start();
  for (const name of ['ann', 'bo', 'cleo']) market.account(name);
  for (const name of ['ann', 'bo', 'cleo']) market.souk('ann', 'account', 'grant', name, '40');
  market.souk('ann', 'settings', 'set', 'silence=3s');
  const lend = (who: string, machine: string, price: string) => {
    const { id } = market.souk<{ id: string }>(who, 'machine', 'add', machine, '--cores', '1', '--memory', '1G');
    const { token } = market.souk<{ token: string }>(who, 'machine', 'token', id);
    return market.lend(['--cores', '1', '--memory', '1G', '--price', price], { SOUK_TOKEN: token });
  };
  lend('bo', 'workshop', '0.18');
  const laptop = lend('cleo', 'laptop', '0.25');
  const offers = () => market.souk<{ items: unknown[] }>('ann', 'offers').items.length;
  await expect.poll(offers, { timeout: 60_000 }).toBe(2);
  const file = join(market.folder, 'digits.yaml');
  writeFileSync(file, kJob);
  market.souk('ann', 'run', file, '--yes', '--wait'); // A profile, for the forecast of the next.
  market.souk('ann', 'run', file, '--yes');
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  await end(laptop, 'SIGKILL');
  lend('cleo', 'attic', '0.22');
  market.souk('ann', 'job', 'wait', 'j2');
  return market;
}

async function labRun(page: Page, market: Market): Promise<string> {
  const scenario = readFileSync(join(kExamples, 'lab/smith.yaml'), 'utf8');
  const answer = await page.request.post(`${market.url}/v1/lab/runs`, {
    data: { scenario, mechanisms: ['k-double', 'mcafee', 'posted'], seeds: 20 },
    headers: { 'Idempotency-Key': `${Date.now()}`, 'Souk-Session': 'cookie' },
  });
  expect(answer.status()).toBe(201);
  return ((await answer.json()) as { id: string }).id;
}

async function shoot(page: Page, look: string, name: string): Promise<void> {
  await expect(page.locator('[aria-label=loading], .mantine-Skeleton-root')).toHaveCount(0, { timeout: 60_000 });
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
      await page.goto(`${market.url}/jobs/j2`);
      await shoot(page, look, 'job');
      await page.goto(`${market.url}/market`);
      await shoot(page, look, 'market');
      await page.goto(`${market.url}/prices`);
      await shoot(page, look, 'prices');
      await page.goto(`${market.url}/lab?run=${await labRun(page, market)}`);
      await expect(page.getByRole('region', { name: 'Results' })).toBeVisible({ timeout: 60_000 });
      await page.getByRole('region', { name: 'Results' }).scrollIntoViewIfNeeded();
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
