import type { Page } from '@playwright/test';
import { expect, expectAccessible, goTo, signUp, test, twoPictures } from './fixtures';

// The walk through all rooms, for the specs of wide screens and of phones.

const kRooms = ['Home', 'Market', 'Machines', 'Jobs', 'Prices', 'Lab', 'Ledger', 'Operator', 'Help'];

const kGood = 0.1; // What browsers call a page that does not jump.

// Gives how far things moved since it was asked before, as browsers measure it (Layout Instability): all moves, for
// whether one comes soon enough after a click to be left out depends on the computer.
async function watchJumps(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    let sum = 0;
    const add = (entries: PerformanceEntryList) => {
      for (const entry of entries as (PerformanceEntry & { value: number })[]) sum += entry.value;
    };
    const observer = new PerformanceObserver((list) => add(list.getEntries()));
    observer.observe({ type: 'layout-shift', buffered: true });
    const takeJumps = () => {
      add(observer.takeRecords());
      const out = sum;
      sum = 0;
      return out;
    };
    Object.assign(window, { takeJumps });
  });
  return async () => {
    await twoPictures(page);
    return await page.evaluate(() => (window as unknown as { takeJumps: () => number }).takeJumps());
  };
}

// What the page asks for is answered when the result is called, and not before: one after the other, each
// when the page has shown the one before, the last first or as they were asked.
async function holdAnswers(page: Page, lastFirst: boolean): Promise<() => Promise<void>> {
  const waiting: (() => Promise<void>)[] = [];
  const asked = (url: URL) => url.pathname.startsWith('/v1/') && url.pathname !== '/v1/events';
  await page.route(asked, async (route) => {
    await new Promise<void>((resolve) => {
      waiting.push(async () => {
        await route.fulfill({ response: await route.fetch() });
        resolve();
      });
    });
  });
  const answerAll = async () => {
    for (;;) {
      const answer = lastFirst ? waiting.pop() : waiting.shift();
      if (!answer) return;
      await answer();
      await twoPictures(page);
    }
  };
  return async () => {
    await answerAll();
    await page.unroute(asked);
    await answerAll(); // What came in between.
  };
}

type Look = {
  name: string;
  colorScheme: 'light' | 'dark';
  viewport: { width: number; height: number };
  lastFirst: boolean; // The order in which what a room asks for is answered.
};

export function testRooms(look: Look): void {
  test.describe(look.name, () => {
    test.use({ colorScheme: look.colorScheme, viewport: look.viewport });

    test('every room is accessible, fits the screen and does not jump', async ({ page, market }) => {
      const jumps = await watchJumps(page);
      await page.goto(market.url);
      // Of a market without accounts the page begins with the first one.
      await expect(page.getByText('This market is new. The first account runs it.')).toBeVisible();
      await expect(page.getByRole('button', { name: 'Sign up' })).toBeVisible();
      const moved: Record<string, number> = { login: await jumps() };
      const arrive = async (place: string, go: () => Promise<void>) => {
        const release = await holdAnswers(page, look.lastFirst);
        await go();
        await jumps(); // What the click did is no jump; what comes by itself is.
        await release();
        await expect(page.getByLabel('loading')).toHaveCount(0);
        moved[place] = await jumps();
      };
      await expectAccessible(page);
      await signUp(page, market, 'boss');
      market.souk('boss', 'login', 'boss');
      market.souk('boss', 'machine', 'add', 'tower', '--cores', '4', '--memory', '8G');
      for (const room of kRooms) {
        await arrive(room, () => goTo(page, room));
        await expectAccessible(page);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(wide, `${room} scrolls sideways`).toBeLessThanOrEqual(0);
      }
      await arrive('Mechanisms', async () => {
        await page.getByRole('link', { name: 'Mechanisms', exact: true }).click();
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      });
      await expect(page.getByRole('heading', { level: 2 }).first()).toBeVisible();
      await expectAccessible(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
      const sum = Object.values(moved).reduce((all, one) => all + one, 0);
      expect(sum, JSON.stringify(moved)).toBeLessThan(kGood);
    });
  });
}
