import { expect, test } from 'vitest';
import { addPiece, findMerged, kMostMerged, noMerged } from './merged-log';

test('lines of two workers do not cut each other', () => {
  let log = addPiece(noMerged(), 'l1', 'one\ntw', false);
  log = addPiece(log, 'l2', 'other\n', false);
  log = addPiece(log, 'l1', 'o\n', false);
  expect(log.lines.map((l) => [l.lease, l.number, l.text])).toEqual([
    ['l1', 1, 'one'],
    ['l2', 1, 'other'],
    ['l1', 2, 'two'],
  ]);
});

test('the last line of a worker that ended is not lost', () => {
  let log = addPiece(noMerged(), 'l1', 'no newline', false);
  expect(log.lines).toEqual([]);
  log = addPiece(log, 'l1', '', true);
  expect(log.lines.map((l) => l.text)).toEqual(['no newline']);
});

test('of very long logs the end is kept', () => {
  const text = Array.from({ length: kMostMerged + 5 }, (_, i) => `line ${i + 1}\n`).join('');
  const log = addPiece(noMerged(), 'l1', text, true);
  expect(log.lines).toHaveLength(kMostMerged);
  expect(log.dropped + log.lines.length).toBe(kMostMerged + 5);
});

test('a search finds lines of all workers', () => {
  let log = addPiece(noMerged(), 'l1', 'Loss 1\n', true);
  log = addPiece(log, 'l2', 'loss 2\nok\n', true);
  expect(findMerged(log.lines, 'LOSS').map((l) => l.lease)).toEqual(['l1', 'l2']);
});
