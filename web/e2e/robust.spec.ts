import { expect, goTo, signUp, test } from './fixtures';

test.use({ allowed: [/Failed to load resource|net::ERR|dynamically imported module|could not be loaded|ChunkError/] });

test('a page that cannot be loaded says so, and comes by itself when the server is back', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  await market.kill();
  await page.getByRole('navigation', { name: 'rooms' }).getByRole('link', { name: 'Prices' }).click();
  await expect(page.getByText('This page could not be loaded')).toBeVisible();
  await market.serve();
  await expect(page.getByRole('heading', { level: 1, name: 'Prices' })).toBeVisible();
});

test('a new build is loaded by itself, but not over what somebody types', async ({ page, market }) => {
  let build = 0; // 0: the one that runs.
  await page.route('**/index.html', (route) =>
    build === 0
      ? route.continue()
      : route.fulfill({ contentType: 'text/html', body: `<script type="module" src="/assets/index-${build}.js"></script>` }),
  );
  const looked = page.waitForResponse('**/index.html');
  await signUp(page, market, 'boss');
  await looked; // The page has compared builds once, and next does so when the server is back.
  await goTo(page, 'Help');
  const mark = () => page.evaluate(() => Object.assign(window, { same: true }));
  const same = () => page.evaluate(() => 'same' in window).catch(() => undefined); // It may be loading.
  await mark();
  await market.kill();
  await expect(page.getByText('The market does not answer')).toBeVisible();
  build = 1;
  await market.serve();
  await expect.poll(same).toBe(false);
  build = 0;
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: 'Help' })).toBeVisible();

  await mark();
  await page.getByRole('textbox').first().fill('half a sentence');
  await market.kill();
  await expect(page.getByText('The market does not answer')).toBeVisible();
  build = 2;
  await market.serve();
  await expect(page.getByText('The server has a new version of this console')).toBeVisible();
  expect(await same()).toBe(true);
  await expect(page.getByRole('textbox').first()).toHaveValue('half a sentence');
  // Who leaves the page leaves the sentence: the new build comes.
  await page.getByRole('navigation', { name: 'rooms' }).getByRole('link', { name: 'Ledger' }).click();
  await expect.poll(same).toBe(false);
  await expect(page.getByRole('heading', { level: 1, name: 'Ledger' })).toBeVisible();
});

test('an address that no page has says so and names a near one', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  await page.goto(`${market.url}/machine`);
  await expect(page.getByText('There is no page at /machine')).toBeVisible();
  await page.getByRole('link', { name: '/machines' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Machines' })).toBeVisible();
});
