import { expect, test } from 'vitest';
import { aLease } from '../testing';
import { fate, kMostLanes, laneText, type Lease, ticksOf, timelineOf } from './lanes';

const noon = Date.parse('2026-01-01T12:00:00Z');
const names = new Map([
  ['m1', 'ada'],
  ['m2', 'bob'],
]);

test('machines that came first are on top, under their names', () => {
  const t = timelineOf(
    [
      aLease({ id: 'l2', machine: 'm2', granted: '2026-01-01T12:01:00Z' }),
      aLease({ id: 'l1', machine: 'm1', started: '2026-01-01T12:00:10Z' }),
      aLease({ id: 'l3', machine: 'm9', granted: '2026-01-01T12:02:00Z' }),
    ],
    names,
    noon + 300_000,
  );
  expect(t.lanes.map((l) => l.machine)).toEqual(['ada', 'bob', 'm9']);
  expect(t.from).toBe(noon);
  expect(t.to).toBe(noon + 300_000);
  expect(t.lanes[0]?.started).toBe(noon + 10_000);
  expect(t.lanes[0]?.until).toBe(noon + 300_000);
});

test('time stands still once the job is over', () => {
  const done = aLease({ state: 'closed', outcome: 'completed', ended: '2026-01-01T12:10:00Z' });
  const t = timelineOf([done], names, noon + 86_400_000, '2026-01-01T12:10:01Z');
  expect(t.to).toBe(noon + 600_000);
});

test('a job without leases has an empty timeline', () => {
  const t = timelineOf([], names, noon);
  expect(t.lanes).toEqual([]);
  expect(t.from).toBe(noon);
  expect(t.ticks.length).toBe(1);
});

test('every way to leave has its word', () => {
  expect(fate({ state: 'closed', outcome: 'lost' })).toEqual({ word: 'lost', color: 'red' });
  expect(fate({ state: 'closed', outcome: 'released' }).word).toBe('released by its lender');
  const over: Pick<Lease, 'state' | 'outcome' | 'ended'> = { state: 'closed', outcome: 'job', ended: '2026-01-01T12:10:00Z' };
  expect(fate(over, '2026-01-01T12:10:00.2Z').word).toBe('worked to the end');
  expect(fate(over).word).toBe('job paused');
  expect(fate({ state: 'granted' }).word).toBe('preparing');
  expect(fate(JSON.parse('{"state":"closed","outcome":"something new"}')).word).toBe('something new');
});

test('the latest leases are shown of very many', () => {
  const many = Array.from({ length: kMostLanes + 50 }, (_, i) =>
    aLease({ id: `l${i}`, granted: new Date(noon + i * 1000).toISOString() }),
  );
  const t = timelineOf(many, names, noon + 400_000);
  expect(t.lanes.length).toBe(kMostLanes);
  expect(t.left).toBe(50);
  expect(t.lanes.at(-1)?.id).toBe(`l${kMostLanes + 49}`);
});

test('ticks are round and few', () => {
  expect(ticksOf(1_000).map((t) => t.text)).toEqual(['0', '1 s']);
  expect(ticksOf(290_000).map((t) => t.text)).toEqual(['0', '1 min', '2 min', '3 min', '4 min']);
  for (const length of [1, 999, 61_000, 3_600_000, 86_400_000 * 30, 86_400_000 * 900])
    expect(ticksOf(length).length).toBeLessThanOrEqual(8);
});

test('a lane in words', () => {
  const [lane] = timelineOf(
    [
      aLease({
        state: 'closed',
        outcome: 'lost',
        started: '2026-01-01T12:00:20Z',
        ended: '2026-01-01T12:05:20Z',
      }),
    ],
    names,
    noon + 600_000,
  ).lanes;
  expect(lane && laneText(lane)).toBe('ada of bob: lost, 20 s of preparing and 5 min of work');
});
