import { expect, test } from 'vitest';
import { draftOf, factsOf, withCount, withHorizon } from './scenario';

const cluster = `# Two weeks.
name: cluster
description: >
  Which rule serves them best?
world: market
horizon: 14d            # or longer
round: 1m
seeds: 5
mechanisms: [k-double, {name: posted, params: {price: 0.4}}]

lenders:
  - name: desktops
    count: 60           # students'
    units: {uniform: [1, 6]}
  - {name: nights, count: 30, units: 4}

borrowers:
- name: "the lab"
  count: 5
- units: 3
  count: 7

shocks:
  - {at: 7d, for: 2d, demand: 2}
`;

test('a form learns what it shows', () => {
  const facts = factsOf(cluster);
  expect(facts).toMatchObject({
    name: 'cluster', world: 'market', horizon: '14d', seeds: 5, mechanisms: ['k-double', 'posted:price=0.4'],
  });
  expect(facts.populations.map((p) => [p.side, p.name, p.count])).toEqual([
    ['lenders', 'desktops', 60],
    ['lenders', 'nights', 30],
    ['borrowers', 'the lab', 5],
    ['borrowers', 'borrowers 2', 7],
  ]);
});

test('a change touches its number only', () => {
  const [desktops, nights] = factsOf(cluster).populations;
  if (!desktops || !nights) throw new Error('no populations');
  expect(withCount(cluster, desktops, 200)).toBe(cluster.replace('count: 60 ', 'count: 200 '));
  expect(withCount(cluster, nights, 3)).toBe(cluster.replace('count: 30', 'count: 3'));
  expect(withHorizon(cluster, '2d')).toBe(cluster.replace('14d', '2d'));
  expect(withHorizon('world: book\n', '2')).toBe('world: book\n');
});

test('lists in blocks, lists of seeds, and nothing at all', () => {
  expect(factsOf('seeds: [3, 5, 8]\nmechanisms:\n  - posted  # first\n  - mcafee\nworld: book\n')).toMatchObject({
    seeds: 3, mechanisms: ['posted', 'mcafee'], world: 'book',
  });
  expect(factsOf('')).toEqual({ name: '', world: '', horizon: '', seeds: 1, mechanisms: [], populations: [] });
});

test('a run again begins as it was, with what was changed beside its text', () => {
  const text = 'seeds: 2\nmechanisms: [k-double, {name: posted, params: {price: 2}}]\n';
  expect(draftOf(text, { mechanisms: ['k-double', 'posted(price=2)'], seeds: 2 })).toEqual({ example: null, text });
  expect(draftOf(text, { mechanisms: ['posted(price=0.4, step=1)'], seeds: 9 })).toEqual({
    example: null, text, mechanisms: ['posted:price=0.4;step=1'], seeds: 9,
  });
});
