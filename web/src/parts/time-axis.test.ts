import { expect, test } from 'vitest';
import { momentText, slotWindow, timeLabels } from './time-axis';

const at = (text: string) => new Date(text).getTime() / 1000; // On this computer's clock.

test('hours name their day once', () => {
  const ticks = ['2026-11-16T18:00', '2026-11-16T21:00', '2026-11-17T00:00', '2026-11-17T03:00'].map(at);
  expect(timeLabels(ticks, 3 * 3600)).toEqual(['18:00\n16 Nov', '21:00', '00:00\n17 Nov', '03:00']);
});

test('days, months and seconds', () => {
  expect(timeLabels([at('2026-11-16T00:00')], 86_400)).toEqual(['16 Nov']);
  expect(timeLabels([at('2026-11-01T00:00')], 30 * 86_400)).toEqual(['Nov 2026']);
  expect(timeLabels([at('2026-11-16T18:00:05')], 5)).toEqual(['18:00:05\n16 Nov']);
});

test('a moment is as exact as its picture', () => {
  expect(momentText(at('2026-11-16T18:00:05'), 60)).toBe('16 Nov 2026, 18:00:05');
  expect(momentText(at('2026-11-16T18:00:05'), 86_400)).toBe('16 Nov 2026, 18:00');
  expect(momentText(at('2026-11-16T18:00:05'), 90 * 86_400)).toBe('16 Nov 2026');
});

test('seven days are seven days, in whole hours', () => {
  const now = Date.parse('2026-11-16T18:20:00Z') / 1000;
  const [from, to] = slotWindow(now, 7 * 86_400, 3600);
  expect(to - from).toBe(7 * 86_400);
  expect(new Date(to * 1000).toISOString()).toBe('2026-11-16T19:00:00.000Z');
  const [day, end] = slotWindow(now, 7 * 86_400, 86_400);
  expect([day, end].map((t) => new Date(t * 1000).toISOString().slice(0, 10))).toEqual(['2026-11-10', '2026-11-17']);
});
