import { expect, test } from 'vitest';
import { healthLines, parseMetrics, rate, slotsByClass, value } from './metrics';

const text = `# HELP souk_events_total Events committed.
# TYPE souk_events_total counter
souk_events_total 120
souk_commits_total 10
souk_commit_seconds_total 0.02
souk_ledger_sum_credits 0
souk_jobs{state="failed"} 2
souk_slots{class="c1",kind="leased"} 3
souk_slots{class="c1",kind="wanted"} 5
souk_slots{class="g\\"1",kind="leased"} 1
`;

test('samples, labels and help are read', () => {
  const m = parseMetrics(text, 0);
  expect(m.help).toEqual({ souk_events_total: 'Events committed.' });
  expect(value(m, 'souk_events_total')).toBe(120);
  expect(value(m, 'souk_jobs', { state: 'failed' })).toBe(2);
  expect(value(m, 'souk_jobs', { state: 'running' })).toBeUndefined();
  expect(slotsByClass(m)).toEqual([
    { class: 'c1', leased: 3, wanted: 5 },
    { class: 'g"1', leased: 1, wanted: 0 },
  ]);
});

test('a rate needs two moments of one life', () => {
  const before = parseMetrics('x 10\n', 0);
  expect(rate(before, parseMetrics('x 30\n', 2_000), 'x')).toBe(10);
  expect(rate(before, parseMetrics('x 3\n', 2_000), 'x')).toBeUndefined();
  expect(rate(undefined, before, 'x')).toBeUndefined();
});

test('a ledger that does not sum to zero is bad', () => {
  const bad = (t: string) => healthLines(parseMetrics(t)).filter((l) => l.bad).map((l) => l.title);
  expect(bad(text)).toEqual([]);
  expect(bad(text.replace('sum_credits 0', 'sum_credits 0.000001'))).toEqual(['Sum of all balances']);
  expect(bad(text.replace('seconds_total 0.02', 'seconds_total 2'))).toEqual(['Mean commit']);
});

test('without a quote to judge there is no forecast error', () => {
  const error = (t: string) => healthLines(parseMetrics(t)).find((l) => l.title === 'Forecast error');
  expect(error('souk_forecasts 0\n')).toMatchObject({
    text: 'none yet',
    about: 'No training with a quote from earlier runs has ended yet.',
  });
  expect(error('souk_forecasts 3\nsouk_forecast_error{quantile="0.5"} 0.2\n')).toMatchObject({
    text: '20%',
    about: 'Median of how far the time of 3 trainings was off.',
  });
});
