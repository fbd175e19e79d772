import { InfiniteQueryObserver, QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { eventually } from '../testing/patience';
import { refresh } from './live';

// A market whose answers come when the test says so.
function slowMarket() {
  const waiting: { answer: () => void; gone: () => boolean }[] = [];
  const ask = ({ signal }: { signal: AbortSignal }) =>
    new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('given up')));
      waiting.push({ answer: () => resolve(`answer ${asked}`), gone: () => signal.aborted });
      const asked = waiting.length;
    });
  return { ask, waiting };
}

test('news that comes faster than answers do not keep an answer from being shown', async () => {
  const client = new QueryClient();
  const { ask, waiting } = slowMarket();
  const list = new QueryObserver(client, { queryKey: ['/v1/jobs'], queryFn: ask });
  const stop = list.subscribe(() => {});
  waiting[0]?.answer();
  await eventually(() => expect(list.getCurrentResult().data).toBe('answer 1'));
  const news = () => refresh(client, new Set(['/v1/jobs']));
  void news();
  const told = [news(), news(), news()];
  expect(waiting.length).toBe(2);
  expect(waiting[1]?.gone()).toBe(false);
  waiting[1]?.answer();
  // What was on its way may be older than the news: one more request, for all of them.
  await eventually(() => expect(waiting.length).toBe(3));
  expect(list.getCurrentResult().data).toBe('answer 2');
  waiting[2]?.answer();
  await Promise.all(told);
  expect(list.getCurrentResult().data).toBe('answer 3');
  expect(waiting.length).toBe(3);
  stop();
});

test('news leaves the next page of a list on its way', async () => {
  const client = new QueryClient();
  const { ask, waiting } = slowMarket();
  const pages = new InfiniteQueryObserver(client, {
    queryKey: ['/v1/jobs', 'pages'],
    queryFn: ask,
    initialPageParam: 0,
    getNextPageParam: (_: string, all: string[]) => (all.length < 2 ? all.length : undefined),
  });
  const stop = pages.subscribe(() => {});
  waiting[0]?.answer();
  await eventually(() => expect(pages.getCurrentResult().hasNextPage).toBe(true));
  void pages.fetchNextPage();
  void refresh(client, new Set(['/v1/jobs']));
  expect(waiting[1]?.gone()).toBe(false);
  waiting[1]?.answer();
  await eventually(() => expect(pages.getCurrentResult().data?.pages.length).toBe(2));
  stop();
});

test('news of prices is no reason to ask for jobs', async () => {
  const client = new QueryClient();
  const { ask, waiting } = slowMarket();
  const stop = new QueryObserver(client, { queryKey: ['/v1/jobs'], queryFn: ask }).subscribe(() => {});
  waiting[0]?.answer();
  await refresh(client, new Set(['/v1/prices']));
  expect(waiting.length).toBe(1);
  stop();
});
