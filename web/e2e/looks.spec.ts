import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { expect, expectAccessible, goTo, signUp, test, twoPictures } from './fixtures';

const kRooms = ['Home', 'Market', 'Machines', 'Jobs', 'Prices', 'Lab', 'Ledger', 'Operator', 'Help'];

// Pixels by which something is wider than what holds it: the page, or any box that scrolls sideways.
async function tooWide(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const out: string[] = [];
    const over = document.documentElement.scrollWidth - window.innerWidth;
    if (over > 0) out.push(`the page by ${over} px`);
    for (const table of document.querySelectorAll('table')) {
      const holder = table.parentElement;
      if (!holder || table.closest('figure') || holder.clientWidth === 0) continue;
      const by = Math.round(table.getBoundingClientRect().width - holder.clientWidth);
      if (by > 1) out.push(`a table (${table.textContent?.slice(0, 40)}) by ${by} px`);
    }
    return out;
  });
}

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

const kScreen = { width: 1280, height: 800 };
const kPhone = { width: 360, height: 740 };

for (const look of [
  { name: 'light', colorScheme: 'light' as const, viewport: kScreen, lastFirst: false },
  { name: 'dark', colorScheme: 'dark' as const, viewport: kScreen, lastFirst: true },
  { name: 'phone', colorScheme: 'light' as const, viewport: kPhone, lastFirst: false },
  { name: 'dark phone', colorScheme: 'dark' as const, viewport: kPhone, lastFirst: true },
])
  test.describe(look.name, () => {
    test.use({ colorScheme: look.colorScheme, viewport: look.viewport });

    test('every room is accessible, fits the screen and does not jump', async ({ page, market }) => {
      const jumps = await watchJumps(page);
      await page.goto(market.url);
      await expect(page.getByRole('button', { name: 'Log in' })).toBeVisible();
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

test.describe('a phone of 390 px', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('no page scrolls sideways, and amounts and progress are seen', async ({ page, market }) => {
    await signUp(page, market, 'boss');
    market.souk('boss', 'login', 'boss');
    market.souk('boss', 'account', 'grant', 'boss', '20');
    market.souk('boss', 'machine', 'add', 'tower', '--cores', '4', '--memory', '8G');
    for (const name of ['a-long-name-of-a-job-that-somebody-chose', 'second']) {
      const made = await page.request.post(`${market.url}/v1/jobs`, {
        data: { name, kind: 'batch', class: 'c1', budget: 2, limit: 0.2, batch: { run: 'true' } },
        headers: { 'Idempotency-Key': name, 'Souk-Session': 'cookie' },
      });
      expect(made.status()).toBe(201);
    }
    const paths = [
      '/', '/market', '/machines', '/machines/m1', '/jobs', '/jobs/new', '/jobs/j1', '/jobs/compare?jobs=j1,j2', '/jobs/forecasts',
      '/prices', '/lab', '/ledger', '/operator', '/help', '/help/borrowing', '/account', '/nowhere',
    ];
    for (const path of paths) {
      await page.goto(`${market.url}${path}`);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expect(page.getByLabel('loading')).toHaveCount(0);
      expect(await tooWide(page), path).toEqual([]);
    }
    for (const tab of ['Classes', 'Accounts', 'Mechanisms', 'Settings', 'Audit log', 'Health']) {
      await page.goto(`${market.url}/operator`);
      await page.getByRole('tab', { name: tab }).click();
      await expect(page.getByLabel('loading')).toHaveCount(0);
      expect(await tooWide(page), tab).toEqual([]);
    }
    await page.goto(`${market.url}/jobs`);
    await expect(page.getByText('0 of 2').first()).toBeInViewport();
    await expect(page.getByText('0 of 1 done').first()).toBeInViewport();
  });

  test('the steps of a new job stand in one row, and each begins at its top', async ({ page, market }) => {
    await signUp(page, market, 'boss');
    await page.goto(`${market.url}/jobs/new`);
    await page.getByText('Handwritten digits with LeNet (MNIST)').click();
    await page.getByRole('button', { name: 'Next' }).click();
    await expect(page.getByRole('heading', { name: 'One worker' })).toBeInViewport();
    const steps = page.getByRole('region', { name: 'Describe the job' }).getByRole('button', { name: /What|Needs|Price|Plan/ });
    await expect(steps).toHaveCount(4);
    const tops = await steps.evaluateAll((all) => all.map((step) => Math.round(step.getBoundingClientRect().top)));
    expect(new Set(tops).size).toBe(1);
    await page.getByRole('button', { name: 'Next' }).click();
    await expect(page.getByLabel('Limit price')).toBeInViewport();
  });

  test('a card has its name on the left, and what belongs to it on the right', async ({ page, market }) => {
    await signUp(page, market, 'boss');
    await page.goto(`${market.url}/operator`);
    const card = page.getByRole('row', { name: /boss/ });
    const left = async (text: string) => (await card.getByText(text, { exact: true }).boundingBox())?.x ?? 999;
    expect(await left('boss')).toBeLessThan(80);
    expect(await left('Grant')).toBeGreaterThan(150);
  });
});
