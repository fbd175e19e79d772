import { gzipSync } from 'node:zlib';
import { expect, signUp, test } from './fixtures';
import { testRooms } from './rooms';

const kScreen = { width: 1280, height: 800 };
testRooms({ name: 'light', colorScheme: 'light', viewport: kScreen, lastFirst: false });
testRooms({ name: 'dark', colorScheme: 'dark', viewport: kScreen, lastFirst: true });

test('the first visit loads less than 300 KB of script', async ({ page, market }) => {
  let bytes = 0;
  const loaded: Promise<void>[] = [];
  page.on('response', (response) => {
    if (response.url().endsWith('.js'))
      loaded.push(response.body().then((body) => void (bytes += gzipSync(body).length)));
  });
  await signUp(page, market, 'boss');
  await expect(page.getByRole('heading', { level: 1, name: 'Home' })).toBeVisible();
  await expect(page.getByLabel('loading')).toHaveCount(0);
  await Promise.all(loaded);
  console.log(`${Math.round(bytes / 1024)} KiB of script, compressed, until Home is shown`);
  expect(bytes).toBeLessThan(300_000);
});

test('the policy allows no inline script', async ({ page, market }) => {
  const response = await page.goto(market.url);
  const policy = response?.headers()['content-security-policy'] ?? '';
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  expect(await page.locator('script:not([src])').count()).toBe(0);
});

test('the way by keyboard', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to the page' })).toBeFocused();
});
