import type { Page } from '@playwright/test';
import { expect, goTo, signUp, test, twoPictures } from './fixtures';

// The console when there is much to show: it works, and how fast is printed. Times are what the browser
// says an input took until the next picture (Event Timing), to 8 ms. With SOUK_BARS=1 a time beyond its bar
// fails the test: for an idle computer, see bench/README.md.
const kBars = process.env.SOUK_BARS === '1';

// A trace would take pictures of its own.
test.use({ trace: 'off', screenshot: 'off' });

async function watchInputs(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const slow: number[] = [];
    const keep = (entries: PerformanceEntryList) => slow.push(...entries.map((e) => e.duration));
    const observer = new PerformanceObserver((list) => keep(list.getEntries()));
    observer.observe({ type: 'event', durationThreshold: 16, buffered: true } as PerformanceObserverInit);
    const take = () => {
      keep(observer.takeRecords());
      return slow.splice(0);
    };
    Object.assign(window, { takeInputTimes: take });
  });
}

async function slowest(page: Page): Promise<number> {
  await twoPictures(page);
  return Math.max(
    0,
    ...(await page.evaluate(() => (window as unknown as { takeInputTimes: () => number[] }).takeInputTimes())),
  );
}

test('1,000 jobs are searched and opened', async ({ page, market }) => {
  await watchInputs(page);
  await signUp(page, market, 'boss');
  market.souk('boss', 'login', 'boss');
  market.souk('boss', 'account', 'grant', 'boss', '2000');
  for (let i = 0; i < 1000; i += 50)
    await Promise.all(
      Array.from({ length: 50 }, async (_, k) => {
        const answer = await page.request.post(`${market.url}/v1/jobs`, {
          data: { name: `study-${i + k}`, kind: 'batch', class: 'c1', budget: 1, limit: 0.2 },
          headers: { 'Idempotency-Key': `job-${i + k}`, 'Souk-Session': 'cookie' },
        });
        expect(answer.status()).toBe(201);
      }),
    );
  await goTo(page, 'Jobs');
  await expect(page.getByText('study-999')).toBeVisible();
  await slowest(page);
  await page.getByLabel(/search/i).pressSequentially('study-77', { delay: 60 });
  const typing = await slowest(page);
  await expect(page.getByText('study-77', { exact: true })).toBeVisible();
  await page.mouse.wheel(0, 3000);
  await page.getByText('study-779').click();
  const opening = await slowest(page);
  await expect(page.getByRole('heading', { level: 1, name: 'study-779' })).toBeVisible();
  console.log(`1,000 jobs: typing ${typing} ms, opening ${opening} ms (bar 100)`);
  if (!kBars) return;
  expect(typing).toBeLessThan(100);
  expect(opening).toBeLessThan(100);
});

test('a chart of 10,000 price points is pointed at', async ({ page, market }) => {
  await watchInputs(page);
  await signUp(page, market, 'boss');
  // More than a year of hours cannot be lived through here: the market's own answer, with more of it.
  await page.route('**/v1/prices?*', async (route) => {
    const answer = await route.fetch();
    const prices = (await answer.json()) as { buckets: unknown[] };
    const start = Date.now() - 10_000 * 3_600_000;
    prices.buckets = Array.from({ length: 10_000 }, (_, i) => {
      const price = 0.3 + 0.1 * Math.sin(i / 24) + 0.02 * Math.sin(i * 7.3);
      return {
        from: new Date(start + i * 3_600_000).toISOString(),
        prices: { volume: 10 + (i % 7), average: price, low: price * 0.8, quartile1: price * 0.9, median: price, quartile3: price * 1.1, high: price * 1.3 },
        utilisation: 0.5,
      };
    });
    await route.fulfill({ response: answer, json: prices });
  });
  await goTo(page, 'Prices');
  await expect(page.getByRole('region', { name: 'Price history' }).getByText(/^highest [0-9.]+$/)).toBeVisible();
  const chart = page.locator('canvas').last();
  await slowest(page);
  const box = await chart.boundingBox();
  if (!box) throw new Error('no chart');
  for (let i = 0; i < 20; ++i) await page.mouse.move(box.x + (box.width * i) / 20, box.y + box.height / 2);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const pointing = await slowest(page);
  console.log(`10,000 price points: pointing ${pointing} ms (bar 100)`);
  if (kBars) expect(pointing).toBeLessThan(100);
});

test('50 workers that come and go are drawn', async ({ page, market }) => {
  await signUp(page, market, 'boss');
  market.souk('boss', 'login', 'boss');
  market.souk('boss', 'account', 'grant', 'boss', '100');
  const made = await page.request.post(`${market.url}/v1/jobs`, {
    data: { name: 'wide', kind: 'batch', class: 'c1', budget: 50, limit: 0.2, workers: { min: 1, max: 50 }, batch: { run: 'true' } },
    headers: { 'Idempotency-Key': 'wide', 'Souk-Session': 'cookie' },
  });
  expect(made.status()).toBe(201);
  const { id } = (await made.json()) as { id: string };
  // Fifty machines are more than this computer has: leases as the market would tell of them, other
  // ones each time.
  const since = Date.now() - 600_000;
  let asked = 0;
  const lease = (i: number) => ({
    id: `l${i + 1}`, job: id, offer: `o${i + 1}`, machine: `m${i + 1}`, borrower: 'boss', lender: 'lena', class: 'c1',
    slots: 1, epoch: 1, state: (i + asked) % 9 ? 'running' : 'closed', price: 0.1, part: i,
    from: new Date(since).toISOString(), until: new Date(Date.now() + 3_600_000).toISOString(),
    granted: new Date(since + i * 5_000).toISOString(), started: new Date(since + i * 5_000 + 2_000).toISOString(),
    paid: 0.01 * (i + asked), earned: 0.01 * (i + asked),
    ...((i + asked) % 9 ? {} : { outcome: 'lost', ended: new Date().toISOString() }),
  });
  await page.route(`**/v1/jobs/${id}/leases*`, (route) => {
    ++asked;
    return route.fulfill({ json: { items: Array.from({ length: 50 }, (_, i) => lease(i)) } });
  });
  await page.route('**/v1/leases/*/log*', (route) => route.fulfill({ json: { lease: 'l1', text: '', next: 0, ended: false } }));
  await page.goto(`${market.url}/jobs/${id}`);
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await expect(timeline.getByRole('listitem')).toHaveCount(50);
  await twoPictures(page);
  const measure = async () => {
    const frames = page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          let n = 0;
          const begin = performance.now();
          const tick = (now: number) => {
            if (now - begin >= 5_000) resolve((1000 * n) / (now - begin));
            else {
              ++n;
              requestAnimationFrame(tick);
            }
          };
          requestAnimationFrame(tick);
        }),
    );
    // News of the job, ten times a second.
    for (let i = 0; i < 45; ++i) {
      await page.request.patch(`${market.url}/v1/jobs/${id}`, {
        data: { limit: 0.2 + 0.001 * i },
        headers: { 'Idempotency-Key': `edit-${++edits}`, 'Souk-Session': 'cookie' },
      });
      await page.waitForTimeout(90); // The pace, not a wait for anything.
    }
    return frames;
  };
  // What else the computer does counts against it: the best of three.
  let edits = 0;
  let rate = await measure();
  for (let i = 1; kBars && i < 3 && rate <= 50; ++i) rate = Math.max(rate, await measure());
  console.log(`50 workers live: ${rate.toFixed(0)} pictures a second (bar 50), ${asked} updates`);
  await expect.poll(() => asked).toBeGreaterThan(1);
  if (kBars) expect(rate).toBeGreaterThan(50);
});
