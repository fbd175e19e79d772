// @vitest-environment jsdom
import { MantineProvider } from '@mantine/core';
import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { Boundary } from './boundary';
import { newBuild, reloadOnce } from './build';
import { chunk, patiently } from './chunk';

const show = (ui: React.ReactNode) => render(<MantineProvider env="test">{ui}</MantineProvider>);

afterEach(() => {
  vi.unstubAllGlobals();
  sessionStorage.clear();
});

test('a load that fails is tried again', async () => {
  let tries = 0;
  const load = async () => {
    if (++tries < 3) throw new Error('no network');
    return 'here';
  };
  expect(await patiently(load, [1, 1])).toBe('here');
  tries = -10;
  await expect(patiently(load, [1])).rejects.toThrow('could not be loaded');
  expect(tries).toBe(-8);
});

test('a part that failed for good says so, and comes when the server is back', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  let up = false;
  vi.stubGlobal('fetch', async () => new Response('', { status: up ? 200 : 503 }));
  const Part = chunk<{ name: string }>(
    async () => {
      if (!up) throw new Error('no network');
      return { default: ({ name }) => <p>hello {name}</p> };
    },
    () => <p>waiting</p>,
  );
  show(<Part name="ann" />);
  expect(screen.getByText('waiting')).toBeTruthy();
  await waitFor(() => expect(screen.getByText('This page could not be loaded')).toBeTruthy());
  up = true;
  await waitFor(() => expect(screen.getByText('hello ann')).toBeTruthy());
});

test('a mistake in a page is shown, and can be tried again', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  let broken = true;
  const Page = () => {
    if (broken) throw new Error('a figure is missing');
    return <p>fine</p>;
  };
  show(<Boundary>{() => <Page />}</Boundary>);
  expect(screen.getByRole('alert').textContent).toContain('a figure is missing');
  broken = false;
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(screen.getByText('fine')).toBeTruthy();
});

test('another script in the page of the server is another build', async () => {
  const serve = (page: string, status = 200) => vi.stubGlobal('fetch', async () => new Response(page, { status }));
  serve('<script type="module" src="/assets/index-b.js"></script>');
  expect(await newBuild('/assets/index-a.js')).toBe('/assets/index-b.js');
  expect(await newBuild('/assets/index-b.js')).toBeUndefined();
  serve('<p>built without its console</p>');
  expect(await newBuild('/assets/index-a.js')).toBeUndefined();
  serve('', 503);
  expect(await newBuild('/assets/index-a.js')).toBeUndefined();
});

test('one reason reloads the page once a minute at most', () => {
  const reload = vi.fn();
  expect(reloadOnce('b', 1_000, reload)).toBe(true);
  expect(reloadOnce('b', 2_000, reload)).toBe(false);
  expect(reloadOnce('c', 3_000, reload)).toBe(true);
  expect(reloadOnce('c', 70_000, reload)).toBe(true);
  expect(reload).toHaveBeenCalledTimes(3);
});
