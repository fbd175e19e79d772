import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, goTo, signUp, test } from './fixtures';

test.use({ allowed: [/Failed to load resource|net::ERR/] });

test('an upload that is interrupted goes on where it stopped', async ({ page, market }) => {
  await signUp(page, market, 'boss');
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
  await page.getByText(/own (script|program|folder)/i).first().click();
  await page.locator('input[type=file]').first().setInputFiles(folder);
  await expect(page.getByText(/waiting for the market|interrupted|try(ing)? again/i).first()).toBeVisible();
  const before = sent;
  expect(before).toBe(1);
  cut = false;
  const again = page.getByRole('button', { name: /Try again|Go on|Resume/ });
  if (await again.isVisible()) await again.click();
  await expect(page.getByText(/uploaded/i).first()).toBeVisible({ timeout: 30_000 });
  // Three chunks, the script's and the manifest's, each sent once.
  expect(sent).toBe(5);
});
