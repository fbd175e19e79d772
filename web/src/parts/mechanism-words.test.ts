import { expect, test } from 'vitest';
import {
  described, firstParams, given, onlyForLab, parametersOf, propertiesOf, spelled, truthful,
} from './mechanism-words';

// As GET /v1/mechanisms has them.
const kAll = [
  'IR; IC in prices; strong budget balance; not efficient; Sybil-proof within a round',
  'IR; strong budget balance; efficient if truthful and without gangs; not IC; not Sybil-proof',
  'IR; IC in prices; weak budget balance; at most one deal lost with one unit each; not Sybil-proof',
  'IR; IC in price and units; strong budget balance (with long=vickrey the platform keeps fees); efficient in large markets; not Sybil-proof',
  'IR; IC in price and units; weak budget balance; efficient as far as the threshold is; Sybil-proof within a round',
  'IR; IC in price and units; efficient; runs a deficit, so only for the lab; no gangs; Sybil-proof on one side',
  'IR; IC and Sybil-proof for buyers without gangs; strong budget balance; efficient up to a factor ln(high / low)',
  'IR; strong budget balance; Pareto efficient; no gain from asking for more than one needs; no prices; not Sybil-proof',
  'IR; IC for buyers without gangs; strong budget balance; no prices; not efficient',
  'IR; strong budget balance; fair in what slots do for each job; rates are measured, not declared; not IC in prices and units; not efficient; not Sybil-proof',
  'IR; strong budget balance; fair in time to finish; rates and work are measured, not declared; not IC in prices and units; not efficient; not Sybil-proof',
  'IR; strong budget balance; not fair; rates and work are measured, not declared; not IC in prices and units; not efficient; not Sybil-proof',
  'IR; strong budget balance; nearly as fair as las; rates are measured, not declared; not IC in prices and units; not efficient; not Sybil-proof',
  'IR; IC; never a deficit; efficient; not Sybil-proof; small books, only for the lab',
  'IR; IC for who wants one bundle; never a deficit; not efficient; not Sybil-proof; only for the lab',
];

test('every property has words without jargon', () => {
  for (const text of kAll)
    for (const property of propertiesOf(text)) {
      expect(property.text).toMatch(/^[A-Z].*\.$/);
      expect(property.text).not.toMatch(/\b(IR|IC|Sybil|Pareto)\b/);
    }
});

test('promises and limits are told apart', () => {
  expect(propertiesOf(kAll[1] ?? '')).toEqual([
    { kind: 'good', text: 'Nobody loses by taking part.' },
    { kind: 'good', text: 'Lenders get all that borrowers pay, less the fee.' },
    { kind: 'good', text: 'Slots go where they are worth most, if all are truthful and without gangs.' },
    { kind: 'limit', text: 'Naming a price other than your true one can pay off.' },
    { kind: 'limit', text: 'Trading under several names can pay off.' },
  ]);
  expect(propertiesOf('bends time')).toEqual([{ kind: 'plain', text: 'bends time.' }]);
});

test('who may tell the truth, and what is only for the lab', () => {
  expect(kAll.map(truthful)).toEqual(
    [true, false, true, true, true, true, true, false, true, false, false, false, false, true, true],
  );
  expect(kAll.filter(onlyForLab)).toHaveLength(3);
});

test('parameters are spelled for people and for the lab', () => {
  expect(described('k-double', { kappa: '0.25' })).toBe('k-double (kappa 0.25)');
  expect(spelled('primal-dual', { low: '1', high: '2' })).toBe('primal-dual:low=1;high=2');
  expect(spelled('posted')).toBe('posted');
  expect(given({ kappa: ' 0.25 ', price: ' ' })).toEqual({ kappa: '0.25' });
  expect(firstParams('muda')).toEqual({ long: 'lottery' });
  expect(parametersOf('cost-slo').map((p) => p.choices)).toEqual([['dual', 'reserve']]);
});
