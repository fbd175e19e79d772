import { expect, goTo, signUp, test } from './fixtures';

test('a chart is zoomed by dragging, and a button brings the whole back', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  await page.route('**/v1/prices?*', async (route) => {
    const answer = await route.fetch();
    const prices = (await answer.json()) as { buckets: unknown[] };
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    prices.buckets = Array.from({ length: 24 }, (_, i) => ({
      from: new Date(hour - (23 - i) * 3_600_000).toISOString(),
      prices: { volume: 2, average: 0.3, low: 0.2, quartile1: 0.25, median: 0.3, quartile3: 0.35, high: 0.4 + i / 100 },
      utilisation: 0.5,
    }));
    await route.fulfill({ response: answer, json: prices });
  });
  await goTo(page, 'Prices');
  const history = page.getByRole('region', { name: 'Price history' });
  const chart = history.locator('canvas').first();
  await expect(page.getByLabel('loading')).toHaveCount(0); // Nothing above it moves it any more.
  await chart.scrollIntoViewIfNeeded();
  // The legend has the last values without a pointer on the chart, and names the band.
  await expect(history.getByText('highest 0.63')).toBeVisible();
  await expect(history.getByText('middle half', { exact: true })).toBeVisible();
  await expect(history.getByRole('button', { name: 'Reset zoom' })).toHaveCount(0);
  const box = await chart.boundingBox();
  if (!box) throw new Error('no chart');
  await page.mouse.move(box.x + box.width * 0.4, box.y + 80);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.8, box.y + 80, { steps: 8 });
  await page.mouse.up();
  const reset = history.getByRole('button', { name: 'Reset zoom' });
  await expect(reset).toBeVisible();
  await reset.click();
  await expect(reset).toHaveCount(0);
});
