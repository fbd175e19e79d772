import { expect, test } from 'vitest';
import { bookOf, csvOf, fileName, type Filter, jobsIn, type Line, matching, reasonOf, sharesOf, signed, sumsOf } from './statement';

const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
function line(minute: number, kind: Line['kind'], amount: number, more: Partial<Line> = {}): Line {
  return { at: at(minute), kind, amount, memo: '', ...more };
}
// Newest first, as the market sends it: 100 granted, 10 set aside, 4 of them paid, 6 returned.
const lines = [
  line(5, 'refund', 6, { job: 'j1' }),
  line(5, 'spend', -4, { job: 'j1', lease: 'l1' }),
  line(3, 'earn', 0.3, { job: 'j9', lease: 'l7' }),
  line(2, 'reserve', -10, { job: 'j1' }),
  line(1, 'grant', 100, { memo: 'welcome' }),
];
const now = { available: 96.3, bonus: 0, escrow: 0 };

test('what was there after each movement', () => {
  const { rows, complete } = bookOf(lines, now);
  expect(complete).toBe(true);
  expect(rows.map((r) => [r.available, r.escrow])).toEqual([
    [96.3, 0], [90.3, 6], [90.3, 10], [90, 10], [100, 0],
  ]);
});

test('sums of millionths lose nothing', () => {
  const many = Array.from({ length: 300 }, (_, i) => line(i % 60, 'earn', 0.1));
  expect(bookOf(many, { available: 30, bonus: 0, escrow: 0 }).rows[0]?.available).toBe(30);
});

test('when old lines are gone, it is counted back from what is there now', () => {
  const many = Array.from({ length: 500 }, () => line(1, 'earn', 1));
  const { rows, complete } = bookOf(many, { available: 700, bonus: 0, escrow: 3 });
  expect(complete).toBe(false);
  expect(rows[0]?.available).toBe(700);
  expect(rows.at(-1)?.available).toBe(201);
  expect(rows.at(-1)?.escrow).toBe(3);
  expect(bookOf(many, { available: 500, bonus: 0, escrow: 0 }).complete).toBe(true);
});

test('a balance asked for a moment too late does not shift what is counted from zero', () => {
  expect(bookOf(lines, { ...now, available: 99 }).rows[0]?.available).toBe(96.3);
});

test('every movement has a reason', () => {
  expect(lines.map(reasonOf)).toEqual([
    'returned from the escrow of job j1',
    'lease l1 of job j1',
    'lease l7 of your machine, for job j9',
    'set aside for job j1',
    'granted by the operator: welcome',
  ]);
});

test('filters by kind, job and words', () => {
  const { rows } = bookOf(lines, now);
  const none: Filter = { kind: '', job: '', text: '' };
  expect(matching(rows, none)).toHaveLength(5);
  expect(matching(rows, { ...none, kind: 'earn' })).toHaveLength(1);
  expect(matching(rows, { ...none, job: 'j1' })).toHaveLength(3);
  expect(matching(rows, { ...none, text: ' Operator  welcome' })).toHaveLength(1);
  expect(matching(rows, { kind: 'spend', job: 'j1', text: 'l9' })).toHaveLength(0);
  expect(sumsOf(matching(rows, { ...none, job: 'j1' }))).toEqual([
    { kind: 'reserve', sum: -10 }, { kind: 'refund', sum: 6 }, { kind: 'spend', sum: -4 },
  ]);
  expect(jobsIn(rows)).toEqual(['j1', 'j9']);
});

test('the whole ledger in four rows that sum to zero', () => {
  const { shares, sum } = sharesOf(
    [
      { name: 'ann', available: 0.1, bonus: 0, escrow: 0.2 },
      { name: 'bob', available: 1.1, bonus: 0, escrow: 0 },
      { name: 'cat', available: 1, bonus: 2.2, escrow: 0 },
      { name: 'platform', available: 0, bonus: 0, escrow: 0 },
      { name: 'mint', available: -4.6, bonus: 0, escrow: 0 },
    ],
    'ann',
  );
  expect(sum).toBe(0);
  expect(shares.map((s) => s.name)).toEqual(['ann', 'everyone else', 'platform', 'mint']);
  expect(shares[1]).toEqual({ name: 'everyone else', available: 2.1, bonus: 2.2, escrow: 0 });
});

test('spreadsheets get plain text, never a formula', () => {
  const { rows } = bookOf([line(1, 'grant', 5, { memo: 'a "gift", thanks' }), line(0, JSON.parse('"=cmd()"'), 1)], now);
  const csv = csvOf(rows).split('\r\n');
  expect(csv[0]).toBe('at,kind,amount,job,lease,reason,available_after,escrow_after');
  expect(csv[1]).toBe('2026-01-01T00:01:00Z,grant,5,,,"granted by the operator: a ""gift"", thanks",6,0');
  expect(csv[2]).toContain("'=cmd()");
  expect(csvOf([bookOf([line(1, 'spend', -5)], now).rows[0]].flatMap((r) => r ?? []))).toContain(',spend,-5,');
});

test('amounts are shown to the last millionth', () => {
  expect(signed(0.000001)).toBe('+0.000001');
  expect(signed(-1234.5)).toBe('-1,234.50');
  expect(signed(0)).toBe('0.00');
});

test('the file is named by account and date', () => {
  expect(fileName('ann b/c', new Date('2026-02-03T12:00:00Z'))).toBe('souk-ledger-ann_b_c-2026-02-03.csv');
});
