// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { useOf } from './tokens';

const token = { id: 't4', scope: 'spend' as const, label: 'nightly', created: '2026-01-01T00:00:00Z' };

test('a token with a limit shows what is spent and reserved of it', () => {
  expect(useOf({ ...token, limit: 5, spent: 1.2, reserved: 3 })).toBe('1.2 spent and 3 reserved of 5');
  expect(useOf({ ...token, limit: 5, spent: 0, reserved: 0 })).toBe('0 spent of 5');
  expect(useOf({ ...token, scope: 'user' })).toBe('–');
});
