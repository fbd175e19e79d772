import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// `npm run dev` serves the console and passes the API on to a market on this computer.
// The market compares Host with Origin, so that one stays.
const to = { target: process.env.SOUK_SERVER ?? 'http://127.0.0.1:7070', changeOrigin: false };

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    cssCodeSplit: false, // A style sheet that fails to load is not tried again, a script is.
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        manualChunks: (id) =>
          /node_modules\/(react|react-dom|scheduler|@mantine|@tanstack|wouter|@floating-ui)/.test(id)
            ? 'base'
            : undefined,
      },
    },
  },
  // The guides of docs/ are part of the console.
  server: { fs: { allow: ['..'] }, proxy: { '/v1': to, '/metrics': to, '/readyz': to } },
  test: {
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/testing/setup.ts'],
    testTimeout: 300_000, // More than some waits of src/testing/patience.ts.
    // A process and a jsdom for each file cost four times what the tests do. src/testing/setup.ts keeps the files
    // apart. One thread: with more, modules that were loaded for one file would hold its jsdom while others run.
    isolate: false,
    pool: 'threads',
    poolOptions: { threads: { singleThread: true } },
  },
});
