// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { showWith } from '../../testing/market';
import { conditionsOf, kNoFilter } from './filter';
import { WhyThese } from './why-these';

test('what leaves offers out is named and can be dropped', async () => {
  const drop = vi.fn();
  const page = {
    items: [], looked_at: 7,
    left_out: [
      { condition: 'state = open', offers: 0, only: 0 },
      { condition: 'gpu = A100', offers: 5, only: 3 },
      { condition: 'asks <= 1', offers: 2, only: 0 },
    ],
  };
  showWith(
    <WhyThese page={page} conditions={conditionsOf({ ...kNoFilter, gpu: 'A100', price: '1' })} drop={drop} />,
    {},
  );
  expect(screen.getByText('0 of 7 offers match.')).toBeTruthy();
  expect(screen.getByText('The GPU leaves out 5 offers; without it 3 more would match.')).toBeTruthy();
  expect(screen.getByText('The price leaves out 2 offers, and so do other conditions.')).toBeTruthy();
  expect(screen.queryByText(/free now/i)).toBeNull();
  expect(screen.getAllByRole('button')).toHaveLength(1);
  await userEvent.click(screen.getByRole('button', { name: 'Drop it: the GPU' }));
  expect(drop).toHaveBeenCalledWith('gpu');
});
