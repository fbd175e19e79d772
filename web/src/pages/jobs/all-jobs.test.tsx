// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { eventually } from '../../testing/patience';
import { useAllJobs } from './all-jobs';

function List() {
  const { data } = useAllJobs(false);
  return <p>{`jobs: ${(data?.items ?? []).map((job) => job.id).join(' ')}`}</p>;
}

// A market with two pages of jobs; `second` is told of each request for the second one.
function show(second: (client: QueryClient, asked: number) => Response | undefined) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  let asked = 0;
  vi.stubGlobal('fetch', async (url: string) => {
    if (!url.includes('after='))
      return new Response(JSON.stringify({ items: [{ id: 'j2' }], next: 'j2' }), { status: 200 });
    const other = second(client, ++asked);
    return other ?? new Response(JSON.stringify({ items: [{ id: 'j1' }] }), { status: 200 });
  });
  render(
    <QueryClientProvider client={client}>
      <List />
    </QueryClientProvider>,
  );
  return { client, asked: () => asked };
}

test('a job of the second page is found although the list was refreshed while that page came', async () => {
  show((client, asked) => {
    if (asked === 1) void client.invalidateQueries();
    return undefined;
  });
  expect(await screen.findByText('jobs: j2 j1')).toBeTruthy();
});

test('a second page that is refused is not asked for without end, but with the next refresh', async () => {
  const { client, asked } = show((_, n) => (n === 1 ? new Response('{}', { status: 429 }) : undefined));
  expect(await screen.findByText('jobs: j2')).toBeTruthy();
  await eventually(() => expect([asked(), client.isFetching()]).toEqual([1, 0]));
  await client.invalidateQueries();
  expect(await screen.findByText('jobs: j2 j1')).toBeTruthy();
  expect(asked()).toBe(2);
});
