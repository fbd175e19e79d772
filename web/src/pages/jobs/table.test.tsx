// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { showWith } from '../../testing/market';
import { JobsTable } from './table';
import { aJob } from './testing';

test('of a thousand jobs only those on the screen are drawn', () => {
  const jobs = Array.from({ length: 1_000 }, (_, i) =>
    aJob({ id: `j${i}`, name: `study ${i}`, kind: 'batch' }),
  );
  showWith(<JobsTable jobs={jobs} owners={false} />, {});
  expect(screen.getByRole('link', { name: 'study 0' })).toBeTruthy();
  expect(screen.getAllByRole('row').length).toBeLessThan(60);
  expect(screen.getByRole('table').getAttribute('aria-rowcount')).toBe('1000');
});

test('a job shows its state, its workers and what it has spent of its cap', () => {
  showWith(<JobsTable jobs={[aJob({ kind: 'batch', done: 1, spent: 2.5 })]} owners />, {});
  expect(screen.getByText('running')).toBeTruthy();
  expect(screen.getByText('1 of 4 done')).toBeTruthy();
  expect(screen.getByText('2.5 of 10')).toBeTruthy();
  expect(screen.getByText(/ann/)).toBeTruthy();
});
