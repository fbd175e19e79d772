import { expect, test } from 'vitest';
import { editOf, groups, shown, wrong } from './settings-fields';

const settings = {
  fee: 0.025, signup_bonus: 10, signup_open: true, term: '1h', shortest_term: '1m', drain: '2m', settle_every: '1m',
  silence: '45s', setup: '10m', low_escrow: '10m', history: '7d', retention: '30d', pickup: '20s',
  probes: 0.005,
};

test('every setting can be changed', () => {
  const fields = groups.flatMap((g) => g.fields.map((f) => f.field));
  expect(fields.sort()).toEqual(Object.keys(settings).sort());
});

test('only what differs is sent', () => {
  expect(editOf(settings, {})).toEqual({});
  expect(editOf(settings, { term: '1h', fee: '2.5', signup_open: 'true' })).toEqual({});
  expect(editOf(settings, { term: '1h 30m', fee: '3', signup_open: 'false', signup_bonus: '5' })).toEqual({
    term: '1h30m', fee: 0.03, signup_open: false, signup_bonus: 5,
  });
});

test('the fee is shown in percent, and an edit before the truth', () => {
  expect(shown(settings, {}, 'fee')).toBe('2.5');
  expect(shown(settings, { fee: '4' }, 'fee')).toBe('4');
});

test('what cannot be meant is said at once', () => {
  expect(wrong('term', 'soon')).toMatch(/1h30m/);
  expect(wrong('term', '1h 30m')).toBeUndefined();
  expect(wrong('fee', '60')).toBe('Use 0 to 50.');
  expect(wrong('signup_bonus', '')).toBe('Use 0 or more.');
  expect(wrong('signup_open', 'false')).toBeUndefined();
});
