import { expect, test } from 'vitest';
import { ago, bytes, credits, decimals, duration, seconds } from './format';

test('lengths of time are read as the API writes them', () => {
  expect(seconds('1h30m')).toBe(5400);
  expect(seconds('250ms')).toBe(0.25);
  expect(seconds('7d')).toBe(604_800);
  expect(seconds('1.5s')).toBe(1.5);
  expect(seconds('0')).toBe(0);
  expect(seconds('')).toBeNaN();
  expect(seconds('soon')).toBeNaN();
  expect(seconds('1h soon')).toBeNaN();
});

test('lengths of time have two units at most', () => {
  expect(duration(0.25)).toBe('250 ms');
  expect(duration(5.25)).toBe('5.3 s');
  expect(duration(5400)).toBe('1 h 30 min');
  expect(duration(3600)).toBe('1 h');
  expect(duration(90_061)).toBe('1 d 1 h');
  expect(duration(3605)).toBe('1 h');
  expect(duration(NaN)).toBe('–');
});

test('credits keep what matters of small amounts', () => {
  expect(credits(0)).toBe('0.00');
  expect(credits(0.0123)).toBe('0.0123');
  expect(credits(12.5)).toBe('12.50');
  expect(credits(1234.567)).toBe('1,234.57');
  expect(credits(-0.4)).toBe('-0.40');
});

test('sizes and ages', () => {
  expect(bytes(512)).toBe('512 B');
  expect(bytes(3 * 1024 ** 2)).toBe('3.0 MiB');
  const now = Date.parse('2026-01-01T12:00:00Z');
  expect(ago('2026-01-01T11:59:58Z', now)).toBe('just now');
  expect(ago('2026-01-01T11:00:00Z', now)).toBe('1 h ago');
  expect(ago('2026-01-01T13:00:00Z', now)).toBe('in 1 h');
});

test('ticks have as many decimals as tell them apart', () => {
  expect([5, 1, 2.5, 0.25, 0.1, 0.01].map(decimals)).toEqual([0, 0, 1, 2, 1, 2]);
});
