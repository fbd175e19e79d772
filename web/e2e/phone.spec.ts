import type { Page } from '@playwright/test';
import { expect, needsMnist, signUp, test } from './fixtures';
import { testRooms } from './rooms';

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

const kPhone = { width: 360, height: 740 };
testRooms({ name: 'phone', colorScheme: 'light', viewport: kPhone, lastFirst: false });
testRooms({ name: 'dark phone', colorScheme: 'dark', viewport: kPhone, lastFirst: true });

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
    needsMnist();
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
