import { expect, goTo, keepNotices, signUp, test } from './fixtures';

test('an operator switches the mechanism of a class', async ({ page, market }) => {
  const notices = await keepNotices(page);
  await signUp(page, market, 'boss');
  await goTo(page, 'Operator');
  await page.getByRole('tab', { name: 'Mechanisms' }).click();
  await page.getByRole('textbox', { name: 'Mechanism', exact: true }).click();
  await page.getByRole('option', { name: /^posted/ }).click();
  await page.getByRole('button', { name: 'Switch the mechanism' }).click();
  await page.getByRole('button', { name: 'Switch c1' }).click();
  await expect.poll(notices).toContain('c1 is cleared by posted from the next round on.');
  market.souk('boss', 'login', 'boss');
  const { items } = market.souk<{ items: { name: string; mechanism: string }[] }>('boss', 'class', 'list');
  expect(items.map((c) => c.mechanism)).toContain('posted');
  await page.getByRole('tab', { name: 'Audit log' }).click();
  await expect(page.getByRole('table').first()).toContainText('boss');
});

test('who is no operator does not see the room, nor its answers', async ({ page, market }) => {
  market.account('boss');
  await signUp(page, market, 'lena');
  await expect(page.getByRole('link', { name: 'Operator' })).toHaveCount(0);
  expect((await page.request.get(`${market.url}/v1/audit`)).status()).toBe(403);
});
