import { expect, test } from 'vitest';
import { mechanism } from '../testing/mechanisms';
import { described, given, propertiesOf, truthful } from './mechanism-words';

const kDouble = mechanism('k-double', {
  truthfulness: 'none', efficiency: 'if_truthful', sybil_proofness: 'none', own_demand: 'can_raise_price',
}).properties;

test('promises and limits are told apart', () => {
  expect(propertiesOf(kDouble)).toEqual([
    { kind: 'good', text: 'Nobody loses by taking part.' },
    { kind: 'limit', text: 'Naming a price other than your true one can pay off.' },
    { kind: 'good', text: 'Lenders get all that borrowers pay, less the fee.' },
    { kind: 'good', text: 'Slots go where they are worth most, if all are truthful and without gangs.' },
    { kind: 'limit', text: 'Trading under several names can pay off.' },
    { kind: 'limit', text: 'Wanting more slots can raise the price of those you would have had anyway.' },
  ]);
});

test('every property has words without jargon', () => {
  for (const property of propertiesOf(
    mechanism('x', {
      truthfulness: 'for_single_minded', efficiency: 'pareto', fairness: 'shares', measurements: 'rates',
      sets_prices: false, gangs: false, live: false,
    }).properties,
  )) {
    expect(property.text).toMatch(/^[A-Z].*\.$/);
    expect(property.text).not.toMatch(/\b(IR|IC|Sybil|Pareto)\b/);
  }
  const texts = propertiesOf(mechanism('vcg', { budget_balance: 'deficit', gangs: false, live: false }).properties);
  expect(texts.filter((p) => p.kind === 'limit').map((p) => p.text)).toEqual([
    'Lenders can get more than borrowers pay.',
    'Slots do not always go where they are worth most.',
    'Jobs that need several workers at once cannot take part.',
    'Only for the lab.',
  ]);
});

test('who may tell the truth', () => {
  expect(truthful(kDouble)).toBe(false);
  expect(truthful(mechanism('posted').properties)).toBe(true);
  expect(truthful(mechanism('fifo', { truthfulness: 'for_buyers' }).properties)).toBe(true);
  expect(truthful(mechanism('karma', { truthfulness: 'in_units' }).properties)).toBe(false);
});

test('parameters are spelled for people, and only those that were given count', () => {
  expect(described('k-double', { kappa: '0.25' })).toBe('k-double (kappa 0.25)');
  expect(given({ kappa: ' 0.25 ', price: ' ' })).toEqual({ kappa: '0.25' });
});
