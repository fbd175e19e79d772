import { expect, expectAccessible, expectToFit, kShopLooks, logIn, needsMnist, signUp, test } from './fixtures';

// Who has no credits gets some.

test('an operator without credits gives some to herself', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  const steps = page.getByRole('region', { name: 'You operate this market' });
  await steps.getByRole('button', { name: 'Give yourself 100 credits' }).click();
  await expect(steps.getByText('(done)').first()).toBeAttached();
  await expect(page.getByRole('button', { name: 'account boss' })).toContainText('100 credits');
});

for (const look of kShopLooks)
  test.describe(look.name, () => {
    test.use({ colorScheme: look.colorScheme, viewport: look.viewport });

    test('who has no credits plans, asks, and goes on when the operator has answered', async ({ page, browser, market }) => {
      needsMnist();
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
