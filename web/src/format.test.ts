import { expect, test } from 'vitest';
import { ago, bytes, credits, creditsInSum, decimals, duration, exactCredits, percent, seconds } from './format';

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

test('credits have three digits that count', () => {
  expect(credits(0)).toBe('0');
  expect(credits(0.0123)).toBe('0.0123');
  expect(credits(0.042123)).toBe('0.0421');
  expect(credits(0.000001)).toBe('0.000001');
  expect(credits(0.5)).toBe('0.5');
  expect(credits(1)).toBe('1');
  expect(credits(12.55)).toBe('12.6');
  expect(credits(1234.567)).toBe('1,235');
  expect(credits(-0.4)).toBe('-0.4');
  expect(credits(0.1)).toBe('0.1');
  expect(credits(1000)).toBe('1,000');
  expect(exactCredits(1234.567891)).toBe('1,234.567891');
});

test('what is shown of a sum adds up', () => {
  expect(creditsInSum([0.0421, 1.9579])).toEqual(['0.0421', '1.9579', '2']);
  expect(creditsInSum([0.333333, 0.333333, 0.333334])).toEqual(['0.333', '0.333', '0.334', '1']);
  expect(creditsInSum([0, 5])).toEqual(['0', '5', '5']);
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

test('percent never rounds to all or nothing', () => {
  expect(percent(0.999)).toBe('99.9%');
  expect(percent(1)).toBe('100%');
  expect(percent(0.004)).toBe('0.4%');
  expect(percent(0.5)).toBe('50%');
  expect(percent(0.985, 1)).toBe('98.5%');
  expect(percent(1e-9)).toBe('0%');
});
