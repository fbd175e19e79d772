import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, goTo, signUp, test } from './fixtures';

test('runs are chosen in the list and compared by what differs', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  market.souk('boss', 'login', 'boss');
  market.souk('boss', 'account', 'grant', 'boss', '20');
  for (const [name, limit] of [['first', 0.2], ['second', 0.4]] as const) {
    const made = await page.request.post(`${market.url}/v1/jobs`, {
      data: { name, kind: 'batch', class: 'c1', budget: 2, limit, batch: { run: 'true' } },
      headers: { 'Idempotency-Key': name, 'Souk-Session': 'cookie' },
    });
    expect(made.status()).toBe(201);
  }
  await goTo(page, 'Jobs');
  await page.getByRole('link', { name: 'Compare runs' }).click();
  await expect(page.getByRole('button', { name: 'Compare', exact: true })).toBeDisabled();
  await page.getByLabel('compare first').check();
  await page.getByLabel('compare second').check();
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  const differ = page.getByRole('table', { name: 'Settings that differ' });
  await expect(differ.getByRole('row', { name: /price\.limit 0\.2 0\.4|price\.limit 0\.4 0\.2/ })).toBeVisible();
  await expect(differ.getByRole('row')).toHaveCount(2); // The heading, and the one that differs.
});

test('the logs of all workers are read as one, searched and told apart', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  market.souk('boss', 'login', 'boss');
  market.souk('boss', 'account', 'grant', 'boss', '20');
  for (const machine of ['tower', 'laptop']) {
    const { id } = market.souk<{ id: string }>('boss', 'machine', 'add', machine, '--cores', '1', '--memory', '1G');
    const { token } = market.souk<{ token: string }>('boss', 'machine', 'token', id);
    market.lend(['--cores', '1', '--memory', '1G', '--price', '0.1'], { SOUK_TOKEN: token });
  }
  // Both are there when the job comes, so each gets a worker.
  await expect.poll(() => market.souk<{ items: unknown[] }>('boss', 'offers').items.length).toBe(2);
  const file = join(market.folder, 'hello.yaml');
  writeFileSync(file, 'run: echo hello from worker $SOUK_INDEX; sleep 2; echo bye\nworkers: 2\nprice: {limit: 0.5, budget: 2}\n');
  const { id } = market.souk<{ id: string }>('boss', 'run', file, '--yes');
  await page.goto(`${market.url}/jobs/${id}`);
  const logs = page.getByRole('region', { name: 'Logs' });
  const text = logs.getByRole('log');
  await expect(logs).toBeVisible();
  await text.scrollIntoViewIfNeeded();
  await expect(text.getByText('hello from worker 0')).toBeVisible();
  await expect(text.getByText('hello from worker 1')).toBeVisible();
  await expect(text.getByText('tower').first()).toBeVisible();
  await expect(text.getByText('laptop').first()).toBeVisible();
  await logs.getByLabel('Search the log').fill('worker 1');
  await expect(text.getByText('hello from worker 0')).toHaveCount(0);
  await expect(logs.getByText('1 line with “worker 1”')).toBeVisible();
});
