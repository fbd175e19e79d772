import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, goTo, signUp, test } from './fixtures';

test.use({ allowed: [/Failed to load resource|net::ERR/] });

test('an upload that is interrupted goes on where it stopped', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  market.souk('boss', 'login', 'boss');
  market.souk('boss', 'account', 'grant', 'boss', '5');
  // Three chunks of 4 MiB and a script.
  const folder = join(market.folder, 'mine');
  mkdirSync(folder);
  const bytes = Buffer.alloc(12 << 20);
  for (let i = 0; i < bytes.length; i += 4) bytes.writeUInt32LE((i * 2654435761) >>> 0, i);
  writeFileSync(join(folder, 'data.bin'), bytes);
  writeFileSync(join(folder, 'main.sh'), 'wc -c data.bin\n');

  let sent = 0;
  let cut = true;
  await page.route('**/v1/blobs/*', async (route) => {
    if (route.request().method() !== 'PUT') return route.continue();
    if (cut && sent >= 1) return route.abort('connectionreset');
    ++sent;
    return route.continue();
  });
  await goTo(page, 'Jobs');
  await page.getByRole('link', { name: 'New job' }).first().click();
  await page.getByText('Own folder').click();
  await page.locator('input[type=file]').first().setInputFiles(folder);
  await expect(page.getByText(/Interrupted: .* Trying again by itself/)).toBeVisible();
  expect(sent).toBe(1);
  cut = false;
  await expect(page.getByText('Uploaded: 12.0 MiB of 12.0 MiB (100%)')).toBeVisible();
  // Three chunks, the script's and the manifest's, each sent once.
  expect(sent).toBe(5);

  // What was sent is what a worker would get: the server makes a job of it.
  await page.getByText('Run a program').click();
  await page.getByLabel('Command').fill('sh main.sh');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('Cap').fill('1');
  await page.getByRole('button', { name: 'Make the plan' }).click();
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(page).toHaveURL(/\/jobs\/j\d+$/);
});
