// @vitest-environment jsdom
import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { showWith } from '../../../testing/market';
import { aLease } from '../testing';
import { Timeline } from './timeline';

test('each lease has a lane with its machine, its fate and its units', () => {
  const leases = [
    aLease({ id: 'l1', machine: 'm1', started: '2026-01-01T12:00:10Z' }),
    aLease({ id: 'l2', machine: 'm2', state: 'closed', outcome: 'lost', ended: '2026-01-01T12:05:00Z' }),
  ];
  showWith(
    <Timeline
      leases={leases}
      names={new Map([['m1', 'ada']])}
      units={new Map([['l1', 31]])}
      ended={undefined}
    />,
    {},
  );
  const region = screen.getByRole('region', { name: 'Timeline' });
  const lanes = within(region).getAllByRole('listitem');
  expect(lanes.map((l) => l.textContent)).toEqual(['adarunning, 31 units', 'm2lost']);
});

test('before the first worker it says what will be there', () => {
  showWith(<Timeline leases={[]} names={new Map()} units={new Map()} ended={undefined} />, {});
  expect(screen.getByText('No worker yet')).toBeTruthy();
});
