import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test as base, type BrowserContext, expect, type Page } from '@playwright/test';
import axe from 'axe-core';
import { kDatasets, kPassword, Market } from './market';

// A market, and a page that must stay without errors in its console.
export const test = base.extend<{ market: Market; quiet: undefined; allowed: RegExp[]; flags: string[] }>({
  // More of `souk serve`, such as what newcomers begin with.
  flags: [[], { option: true }],
  market: async ({ flags }, use) => {
    const market = await Market.start(flags);
    await use(market);
    await market.stop();
  },
  // What the browser itself prints when a request is refused or the market is away.
  allowed: [[], { option: true }],
  quiet: [
    async ({ page, allowed, market: _ }, use, info) => {
      const errors: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      page.on('pageerror', (error) => errors.push(String(error)));
      await use(undefined);
      if (info.status !== info.expectedStatus) await printPages(page.context().browser()?.contexts() ?? []);
      expect(errors.filter((e) => !allowed.some((a) => a.test(e)))).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

// For tests that plan to train on it, or do.
export function needsMnist(): void {
  const here = existsSync(join(kDatasets, 'mnist/data/train-images-idx3-ubyte'));
  test.skip(!here, 'MNIST is not here: `souk datasets mnist` fetches it');
}

// For the message of a failed test: what every page shows, as a screen reader would read it.
async function printPages(contexts: BrowserContext[]): Promise<void> {
  for (const page of contexts.flatMap((context) => context.pages())) {
    const seen = await page.locator('body').ariaSnapshot({ timeout: 10_000 }).catch(String);
    console.log(`${page.url()} showed:\n${seen}`);
  }
}

export async function signUp(page: Page, market: Market, name: string): Promise<void> {
  await page.goto(market.url);
  await page.getByText('Sign up', { exact: true }).first().click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: false }).first().fill(kPassword);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await expect(page.getByRole('button', { name: `account ${name}` })).toBeVisible();
}

export async function logIn(page: Page, market: Market, name: string, password = kPassword): Promise<void> {
  await page.goto(market.url);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: false }).first().fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

// Goes by the menu, as people do.
export async function goTo(page: Page, room: string): Promise<void> {
  const menu = page.getByRole('button', { name: 'menu' });
  if (await menu.isVisible()) await menu.click();
  await page.getByRole('navigation', { name: 'rooms' }).getByRole('link', { name: room }).click();
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
}

// Gives all notices that were shown so far: they go by themselves, perhaps before a busy test looks.
export async function keepNotices(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    const notices = new Set<string>();
    new MutationObserver(() => {
      for (const one of document.querySelectorAll('.mantine-Notification-description')) notices.add(one.textContent ?? '');
    }).observe(document, { childList: true, subtree: true, characterData: true });
    Object.assign(window, { notices });
  });
  return () => page.evaluate(() => [...(window as unknown as { notices: Set<string> }).notices]);
}

// What was asked for before is on the screen, and so is the picture after it: then the browser knows what the first
// one took and what moved.
export async function twoPictures(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))),
  );
}

// No fault that keeps people out, as axe sees it.
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const bad = await page.evaluate(async () => {
    const { axe: checker } = window as unknown as { axe: typeof axe };
    // Of what is no violation nothing is asked, so that nothing of it is described.
    const { violations } = await checker.run(document, { resultTypes: ['violations'], preload: false });
    return violations
      .filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).slice(0, 3).join(' ')}`);
  });
  expect(bad).toEqual([]);
}

export async function expectToFit(page: Page): Promise<void> {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(wide, 'the page scrolls sideways').toBeLessThanOrEqual(0);
}

// On which a way through the shop is gone.
export const kShopLooks = [
  { name: 'wide and light', colorScheme: 'light' as const, viewport: { width: 1280, height: 900 } },
  { name: 'wide and dark', colorScheme: 'dark' as const, viewport: { width: 1280, height: 900 } },
  { name: 'phone and light', colorScheme: 'light' as const, viewport: { width: 390, height: 844 } },
  { name: 'phone and dark', colorScheme: 'dark' as const, viewport: { width: 390, height: 844 } },
];
