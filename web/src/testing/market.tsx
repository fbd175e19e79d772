import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { vi } from 'vitest';

export type Call = { method: string; url: string; body: unknown };

// Shows a part of the console in front of a market that answers as told: by "GET /v1/classes", the
// query left out. Returns the changes that were asked for.
export function showWith(ui: ReactNode, answers: Record<string, unknown>): Call[] {
  const changes: Call[] = [];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit = {}) => {
    const method = init.method ?? 'GET';
    if (method !== 'GET')
      changes.push({ method, url, body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined });
    const answer = answers[`${method} ${url.split('?')[0]}`];
    return answer === undefined
      ? new Response(JSON.stringify({ detail: `no answer to ${method} ${url}` }), { status: 404 })
      : new Response(JSON.stringify(answer), { status: 200 });
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={client}>{ui}</QueryClientProvider>
    </MantineProvider>,
  );
  return changes;
}
