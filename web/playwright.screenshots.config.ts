import { defineConfig } from '@playwright/test';
import { chromium } from './e2e/chromium';

// `npm run screenshots` writes docs/screenshots/.
export default defineConfig({
  testDir: 'e2e',
  testMatch: 'screenshots.ts',
  outputDir: process.env.SOUK_E2E_OUT ?? 'test-results',
  workers: 1,
  timeout: 900_000,
  expect: { timeout: 120_000 },
  reporter: [['list']],
  use: chromium,
});
