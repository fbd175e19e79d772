// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { showWith } from '../testing/market';
import { Worth } from './worth';
import { askOf, basisText, weekText } from './worth-words';

const kC1 = {
  class: 'c1', cores: 1, memory_mib: 1024, gpus: 0, gpu_memory_mib: 0, slots: 4, price: 0.2, hours: 168,
  used: 0.5, unfilled: 1.25, week: { expected: 60, low: 20.5, high: 100 },
};

test('earnings come with their range and with what they are made from', () => {
  expect(weekText(kC1)).toBe('about 60 a week (20.5 to 100)');
  expect(basisText(kC1)).toContain('From the last 168 hours: 50% of the slots were leased, 1.3 more were wanted');
  const { week: _, ...young } = kC1;
  expect(weekText(young)).toBe('no estimate yet: it needs an hour of trading; always leased: 134 a week');
  expect(askOf({ cores: 4, memory: 7.5, gpus: 1, vram: 24 })).toEqual({
    cores: 4, memory_mib: 7680, gpus: 1, gpu_memory_mib: 24576,
  });
});

test('nobody needs an account to see them', async () => {
  showWith(<Worth />, { 'GET /v1/earnings': { items: [kC1] } });
  expect(await screen.findByText('4 × c1')).toBeTruthy();
  expect(screen.getByText('about 60 a week (20.5 to 100)')).toBeTruthy();
});
