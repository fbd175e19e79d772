import { existsSync } from 'node:fs';

// Debian's own Chromium, talking to nobody but the market under test.
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

export const chromium = {
  browserName: 'chromium' as const,
  viewport: { width: 1280, height: 800 },
  launchOptions: {
    ...(executablePath ? { executablePath } : {}),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  },
};
