import { expect, test } from 'vitest';
import type { Schemas } from '../../../api/client';
import { aJob } from '../testing';
import { obstacleText, relaxationText, stepFor } from './relax';

type Relaxation = Schemas['Relaxation'];
const relax = (kind: Relaxation['kind'], flag: string): Relaxation => ({
  kind, flag, change: '', slots: 1, extra_per_hour: 0,
});
// A word that only a newer server knows.
const unknown = <T>(word: string): T => JSON.parse(JSON.stringify(word)) as T;
const job = aJob({
  constraints: {
    packages: ['@torch', 'numpy'],
    regions: ['eu'],
    max_rtt_ms: 20,
    min_reliability: 0.9,
    lenders_allowed: ['bob'],
    lenders_refused: ['eve'],
  },
});

test.each<[Relaxation['kind'], string, object]>([
  ['price', '--price 0.6', { limit: 0.6 }],
  ['budget', '--budget 12.5', { budget: 12.5 }],
  ['workers', '--workers 2..8', { workers: { min: 2, max: 8 } }],
])('%s becomes a change of the job', (kind, flag, edit) => {
  expect(stepFor(relax(kind, flag), job)).toEqual({ how: 'edit', edit });
});

test('dropping one demand keeps the others', () => {
  const step = stepFor(relax('region', '--regions any'), job);
  expect(step).toEqual({ how: 'edit', edit: { constraints: { ...job.constraints, regions: [] } } });
  const rtt = stepFor(relax('rtt', '--max-rtt any'), job);
  expect(rtt.how === 'edit' && rtt.edit.constraints).toEqual({ ...job.constraints, max_rtt_ms: undefined });
});

test('what the program itself needs is never dropped', () => {
  const step = stepFor(relax('packages', '--packages any'), job);
  expect(step.how === 'edit' && step.edit.constraints?.packages).toEqual(['@torch']);
});

test('a change to what the job has already is not offered', () => {
  const plain = aJob({ constraints: { packages: ['@torch'] } });
  expect(stepFor(relax('packages', '--packages any'), plain)).toEqual({ how: 'wait' });
  expect(stepFor(relax('region', '--regions any'), plain)).toEqual({ how: 'wait' });
  expect(stepFor(relax('rtt', '--max-rtt any'), plain)).toEqual({ how: 'wait' });
  expect(stepFor(relax('price', '--price 2'), plain)).toEqual({ how: 'wait' });
  expect(stepFor(relax('workers', '--workers 1..4'), plain)).toEqual({ how: 'wait' });
});

test('"any lender" clears both lists', () => {
  const step = stepFor(relax('lender', '--lenders any'), job);
  expect(step.how === 'edit' && step.edit.constraints).toMatchObject({
    lenders_allowed: [],
    lenders_refused: [],
  });
});

test('what is no change of this job: waiting, another class, something unknown', () => {
  expect(stepFor(relax('wait', ''), job)).toEqual({ how: 'wait' });
  expect(stepFor(relax('slot_class', '--class c4'), job)).toEqual({ how: 'clone', class: 'c4' });
  expect(stepFor(relax(unknown('magic'), '--magic on'), job)).toEqual({
    how: 'command',
    command: 'souk job edit j1 --magic on',
  });
});

test('obstacles in words', () => {
  expect(obstacleText(['price', 'full'])).toBe('ask more than your limit price, and are in use');
  expect(obstacleText(['offline', 'packages', 'avoided'], 1)).toBe(
    'is offline, and lacks packages that it needs, and failed this job before',
  );
  expect(obstacleText([unknown('other')])).toBe('other');
});

test('a relaxation says what it brings and what it costs', () => {
  const r: Relaxation = {
    kind: 'price',
    flag: '',
    change: 'raise the limit price to 0.6',
    slots: 2,
    extra_per_hour: 0.2,
  };
  expect(relaxationText(r)).toBe('raise the limit price to 0.6: 2 slots, 0.2 more an hour');
  const wait: Relaxation = {
    kind: 'wait',
    flag: '',
    change: 'wait until 2026-11-15T20:10:03.689176Z',
    slots: 1,
    extra_per_hour: 0,
  };
  expect(relaxationText(wait)).toMatch(/^wait until .*2026.*: 1 slot$/);
  expect(relaxationText(wait)).not.toContain('Z');
});
