import { expect, test } from 'vitest';
import { borrowing, lending } from './advice';

const asks = [
  { price: 0, slots: 2 },
  { price: 0.5, slots: 4 },
];
const bids = [{ price: 0.3, slots: 3 }];

test('who borrows learns what limit is enough', () => {
  expect(borrowing({ asks, bids }, 2, 0.4)).toMatch(/limit of 0.4.*2 slots free/);
  expect(borrowing({ asks, bids }, 3, 0.4)).toMatch(/Bid 0.5 or more.*2 slots free/);
  expect(borrowing({ asks, bids }, 7, 0.4)).toMatch(/Only 6 slots are free/);
  expect(borrowing({ asks: [], bids }, 1, 0.4)).toMatch(/No slot is free/);
});

test('who lends learns at what price jobs wait', () => {
  expect(lending({ asks, bids }, 3, 0.4)).toMatch(/At 0.3 or less.*want no slots/);
  expect(lending({ asks, bids }, 3, 0.2)).toMatch(/At 0.2.*want 3 slots/);
  expect(lending({ asks, bids }, 4, 0.4)).toMatch(/Only 3 slots are wanted.*0.3/);
  expect(lending({ asks, bids: [] }, 1, 0.4)).toMatch(/No job waits/);
});
