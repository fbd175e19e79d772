// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { type Known, stepsOf } from './checklist';

const kNew: Known = {
  operator: true, name: 'boss', credits: 0, bonus: 0, machines: 0, offers: 0, jobs: 0, others: 0, asking: 0,
  trains: false,
};
const done = (known: Known) => stepsOf(known).filter((s) => s.done).map((s) => s.text);

test('the first account begins with credits, and what is done is ticked', () => {
  expect(stepsOf(kNew)[0]?.text).toBe('Give yourself credits');
  expect(done(kNew)).toEqual([]);
  expect(done({ ...kNew, credits: 5, bonus: 5 })).toEqual([]); // The sign-up bonus: nobody has done anything yet.
  expect(done({ ...kNew, credits: 105, bonus: 5, offers: 1 })).toEqual(['Give yourself credits', 'Lend a machine']);
});

test('the first job is one that some machine can run', () => {
  const first = (known: Known) => stepsOf(known).find((s) => s.text === 'Run a first job');
  expect(first(kNew)).toMatchObject({ to: '/jobs/new?sample=batch' });
  expect(first(kNew)?.about).toContain('A program on two machines');
  expect(first({ ...kNew, trains: true })).toMatchObject({ to: '/jobs/new' });
  expect(first({ ...kNew, trains: true })?.about).toContain('trains in a minute');
});

test('who asks for credits is on the operator’s list until answered', () => {
  expect(stepsOf({ ...kNew, asking: 2 }).at(-1)?.text).toBe('Answer 2 requests for credits');
  expect(stepsOf(kNew).some((s) => s.text.startsWith('Answer'))).toBe(false);
});

test('others begin with what is on offer and can plan before they have credits', () => {
  const steps = stepsOf({ ...kNew, operator: false });
  expect(steps.map((s) => s.text).slice(0, 2)).toEqual(['See what is on offer', 'Plan a job']);
  expect(done({ ...kNew, operator: false, credits: 5, jobs: 1, machines: 1 })).toHaveLength(5);
});
