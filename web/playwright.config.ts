import { defineConfig } from '@playwright/test';
import { chromium } from './e2e/chromium';

// Every test has a market of its own: the real binary, on a free port of this computer.
export default defineConfig({
  testDir: 'e2e',
  testMatch: '*.spec.ts',
  outputDir: process.env.SOUK_E2E_OUT ?? 'test-results',
  workers: 1,
  // Patience for computers that do other work meanwhile; what works needs a fraction of it.
  timeout: 600_000,
  expect: { timeout: 120_000 },
  reporter: [['list']],
  // No trace: taking one of every test costs a third of the computing. What a page showed when its test failed is
  // printed and photographed; for a trace, `npx playwright test --trace on`.
  use: { ...chromium, actionTimeout: 120_000, screenshot: 'only-on-failure', trace: 'off' },
});
