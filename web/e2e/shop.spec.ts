import type { Locator, Page } from '@playwright/test';
import { expect, expectAccessible, goTo, logIn, signUp, test } from './fixtures';
import { kPassword, type Market } from './market';

// The first hour: what is on offer, how to get credits, what lending is worth.

// A machine on paper: it is on offer, and shows what the market shows of machines.
function onOffer(market: Market, who: string, name: string, more: string[] = [], price = '0.3'): void {
  const machine = market.souk<{ id: string }>(who, 'machine', 'add', name, '--cores', '4', '--memory', '8G', ...more);
  market.souk(who, 'offer', 'create', machine.id, '--class', 'c1', '--slots', '2', '--price', price);
}

// Counts what a newcomer has to press, and nothing else presses anything.
class Clicks {
  count = 0;
  async on(target: Locator): Promise<void> {
    ++this.count;
    await target.click();
  }
}

async function expectToFit(page: Page): Promise<void> {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(wide, 'the page scrolls sideways').toBeLessThanOrEqual(0);
}

test.describe('a market as `souk serve` founds it', () => {
  test.use({ bonus: '5' });

  test('from a fresh browser to a submitted job in six clicks', async ({ page, market }) => {
    const clicks = new Clicks();
    await page.goto(market.url);
    await clicks.on(page.getByText('Sign up', { exact: true }).first());
    await page.getByLabel('Name').fill('boss');
    await page.getByLabel('Password', { exact: false }).first().fill(kPassword);
    await clicks.on(page.getByRole('button', { name: 'Sign up' }));
    const steps = page.getByRole('region', { name: 'You operate this market' });
    await clicks.on(steps.getByRole('link', { name: 'Run a first job' }));
    await clicks.on(page.getByText('Handwritten digits with LeNet (MNIST)'));
    await clicks.on(page.getByRole('button', { name: 'Plan' }).last());
    await clicks.on(page.getByRole('button', { name: 'Submit' }));
    await expect(page).toHaveURL(/\/jobs\/j\d+$/);
    expect(clicks.count).toBeLessThanOrEqual(6);
  });
});

test('an operator without credits gives some to herself', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  const steps = page.getByRole('region', { name: 'You operate this market' });
  await steps.getByRole('button', { name: 'Give yourself 100 credits' }).click();
  await expect(steps.getByText('(done)').first()).toBeAttached();
  await expect(page.getByRole('button', { name: 'account boss' })).toContainText('100 credits');
});

for (const look of [
  { name: 'wide and light', colorScheme: 'light' as const, viewport: { width: 1280, height: 900 } },
  { name: 'wide and dark', colorScheme: 'dark' as const, viewport: { width: 1280, height: 900 } },
  { name: 'phone and light', colorScheme: 'light' as const, viewport: { width: 390, height: 844 } },
  { name: 'phone and dark', colorScheme: 'dark' as const, viewport: { width: 390, height: 844 } },
])
  test.describe(look.name, () => {
    test.use({ colorScheme: look.colorScheme, viewport: look.viewport });

    test('the marketplace filters, says why, and a machine is rented', async ({ page, market }) => {
      market.account('boss');
      market.account('lena');
      onOffer(market, 'lena', 'tower', ['--gpus', '1', '--gpu', 'NVIDIA A100', '--gpu-memory', '40G']);
      onOffer(market, 'lena', 'laptop');
      await logIn(page, market, 'boss');
      await expect(page.getByRole('button', { name: 'account boss' })).toBeVisible();
      await goTo(page, 'Market');
      await expect(page.getByText('2 of 2 offers match.')).toBeVisible();
      await expect(page.getByText('new', { exact: true })).toHaveCount(2);
      await expect(page.getByText('90%')).toHaveCount(0);
      await expectAccessible(page);
      await expectToFit(page);

      await page.getByLabel('GPU', { exact: true }).fill('a100');
      await expect(page.getByText('1 of 2 offers match.')).toBeVisible();
      await expect(page.getByText('laptop')).toHaveCount(0);
      await page.getByLabel('Price at most').fill('0.1');
      await expect(page.getByText('No offer matches')).toBeVisible();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Drop it: the price' }).click();
      await expect(page).toHaveURL(/gpu=a100$/);

      await page.getByRole('link', { name: 'Rent this: tower, c1' }).click();
      await expect(page.getByText('Renting tower of lena')).toBeVisible();
      await page.getByText('Handwritten digits with LeNet (MNIST)').click();
      await expect(page.getByText(/lenders_allowed/).first()).toContainText('lena');
      await expectAccessible(page);
      await expectToFit(page);
    });

    test('who has no credits plans, asks, and goes on when the operator has answered', async ({ page, browser, market }) => {
      market.account('boss');
      market.account('bob');
      await logIn(page, market, 'bob');
      await page.getByRole('region', { name: 'First steps' }).getByRole('link', { name: 'Plan a job' }).click();
      await page.getByText('Handwritten digits with LeNet (MNIST)').click();
      await page.getByRole('button', { name: 'Plan', exact: false }).last().click();
      await expect(page.getByText(/You have 0 credits, and this needs/)).toBeVisible();
      await expect(page.getByRole('button', { name: 'Submit' })).toBeDisabled();
      await expectAccessible(page);
      await expectToFit(page);
      await page.getByLabel('What for').fill('to see whether it learns');
      await page.getByRole('button', { name: 'Ask the operator' }).click();
      await expect(page.getByText(/has not answered yet/)).toBeVisible();

      const boss = await (await browser.newContext({ viewport: look.viewport, colorScheme: look.colorScheme })).newPage();
      await logIn(boss, market, 'boss');
      await boss.getByRole('link', { name: 'Answer a request for credits' }).click();
      const asked = boss.getByRole('article', { name: 'request of bob' });
      await expect(asked).toContainText('to see whether it learns');
      await expectAccessible(boss);
      await expectToFit(boss);
      await asked.getByLabel('Message').fill('good luck');
      await asked.getByRole('button', { name: 'Grant bob' }).click();
      await expect(asked.getByText(/^granted/)).toBeVisible();

      await expect(page.getByRole('button', { name: 'Submit' })).toBeEnabled();
      await page.getByRole('button', { name: 'Submit' }).click();
      await expect(page).toHaveURL(/\/jobs\/j\d+$/);
    });
  });

test('what a machine would earn is seen without an account', async ({ page, market }) => {
  await page.goto(market.url);
  await page.getByRole('button', { name: 'What would my machine earn here?' }).click();
  await expect(page.getByRole('table', { name: 'expected earnings' })).toContainText('4 × c1');
  await expectAccessible(page);
  await expectToFit(page);
});
