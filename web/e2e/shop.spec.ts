import type { Locator } from '@playwright/test';
import { expect, expectAccessible, expectToFit, goTo, kShopLooks, logIn, needsMnist, test } from './fixtures';
import { kPassword, type Market } from './market';

// The first hour: what is on offer, a first job, what lending is worth.

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

test.describe('a market as `souk serve` founds it', () => {
  test.use({ flags: ['--signup-bonus', '5'] });

  test('from a fresh browser to a submitted job in six clicks', async ({ page, market }) => {
    needsMnist();
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

for (const look of kShopLooks)
  test.describe(look.name, () => {
    test.use({ colorScheme: look.colorScheme, viewport: look.viewport, flags: ['--challenge-every', '0s'] });

    test('the marketplace filters, says why, and a machine is rented', async ({ page, market }) => {
      needsMnist();
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
      await expect(page.getByText('1 of 2 offers matches.')).toBeVisible();
      await expect(page.getByText('laptop')).toHaveCount(0);
      await page.getByLabel('Price at most').fill('0.1');
      await expect(page.getByText('No offer matches')).toBeVisible();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Drop it: the price' }).click();
      await expect(page).toHaveURL(/gpu=a100$/);

      await page.getByRole('link', { name: 'Rent from lena: tower, c1' }).click();
      await expect(page.getByText('Renting from lena')).toBeVisible();
      await page.getByText('Handwritten digits with LeNet (MNIST)').click();
      await expect(page.getByText(/lenders_allowed/).first()).toContainText('lena');
      await expectAccessible(page);
      await expectToFit(page);
    });
  });

test('what a machine would earn is seen without an account', async ({ page, market }) => {
  await page.goto(market.url);
  await page.getByRole('button', { name: 'What would my machine earn here?' }).click();
  await expect(page.getByRole('table', { name: 'expected earnings' })).toContainText('4 × c1');
  await expectAccessible(page);
  await expectToFit(page);
});
