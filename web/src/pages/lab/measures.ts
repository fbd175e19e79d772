import { credits, duration, percent } from '../../format';

// The lab's metrics: what they are called, what they mean, how they are written.

export type Estimate = { mean: number; low: number; high: number };
type Unit = 'share' | 'seconds' | 'credits' | 'number';
export type Measure = { field: string; title: string; unit: Unit; about: string };

export const measures: Measure[] = [
  { field: 'efficiency', title: 'Efficiency', unit: 'share', about: 'Gains from trade, as a share of the most possible.' },
  { field: 'buyers_share', title: 'Borrowers’ share', unit: 'share', about: 'Of the gains realised.' },
  { field: 'sellers_share', title: 'Lenders’ share', unit: 'share', about: 'Of the gains realised.' },
  { field: 'platform_share', title: 'Platform’s share', unit: 'share', about: 'Of the gains realised; below 0 it pays in.' },
  { field: 'price', title: 'Mean price', unit: 'credits', about: 'Paid per slot-hour.' },
  { field: 'alpha', title: 'Smith’s alpha', unit: 'share', about: 'Distance of prices from equilibrium; 0 is best.' },
  { field: 'volatility', title: 'Volatility', unit: 'number', about: 'Of the log price, from clearing to clearing.' },
  { field: 'gini_credits', title: 'Gini of credits', unit: 'number', about: '0: all have the same; near 1: one has all.' },
  { field: 'gini_access', title: 'Gini of access', unit: 'number', about: 'Of the share of its demand that each borrower got.' },
  { field: 'platform_drift', title: 'Platform', unit: 'credits', about: 'Credits that the platform gained.' },
  { field: 'utilisation', title: 'Utilisation', unit: 'share', about: 'Slot-hours used, of those offered.' },
  { field: 'wait_p50', title: 'Median wait', unit: 'seconds', about: 'From submission to the first worker.' },
  { field: 'wait_p95', title: '95% wait', unit: 'seconds', about: '95% of the jobs waited less.' },
  { field: 'defection', title: 'Defection', unit: 'share', about: 'Users who waited over 15 times their mean run time.' },
  { field: 'completed', title: 'Completed', unit: 'share', about: 'Of the jobs.' },
  { field: 'regret', title: 'Regret', unit: 'credits', about: 'The most that a false price would gain.' },
  { field: 'false_name_gain', title: 'False-name gain', unit: 'credits', about: 'What a second name would gain.' },
  { field: 'recovery', title: 'Recovery', unit: 'number', about: 'Time from a shock’s end to a price near equilibrium.' },
  { field: 'units', title: 'Units traded', unit: 'number', about: '' },
];

export function measureOf(field: string): Measure {
  return measures.find((m) => m.field === field) ?? { field, title: field, unit: 'number', about: '' };
}

function plain(v: number): string {
  if (v === 0) return '0';
  return v.toLocaleString('en', Math.abs(v) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
}

export function valueText({ unit }: Measure, v: number): string {
  switch (unit) {
    case 'share':
      return percent(v, 1);
    case 'seconds':
      return v < 0 ? `-${duration(-v)}` : duration(v);
    case 'credits':
      return credits(v);
    default:
      return plain(v);
  }
}

// Half of a 95% interval; nothing where there is none but for what rounding leaves.
function plusMinus(measure: Measure, { mean, low, high }: Estimate): string {
  const half = (high - low) / 2;
  if (!(half > 1e-9 * Math.abs(mean))) return '';
  if (measure.unit === 'share') return ` ± ${(100 * half).toFixed(1)}`;
  const text =
    measure.unit === 'number' && half < 1000
      ? half.toLocaleString('en', { maximumSignificantDigits: 2 })
      : valueText(measure, half);
  return ` ± ${text}`;
}

// "91.4% ± 0.3"
export function estimateText(measure: Measure, e: Estimate): string {
  return valueText(measure, e.mean) + plusMinus(measure, e);
}

// "-27.6 points ± 1.3": the difference of two shares is no share.
export function differenceText(measure: Measure, e: Estimate): string {
  const text = measure.unit === 'share' ? `${(100 * e.mean).toFixed(1)} points` : valueText(measure, e.mean);
  const none = !/[1-9]/.test(text);
  return (none ? text.replace('-', '') : e.mean > 0 ? `+${text}` : text) + plusMinus(measure, e);
}

// For an axis: "45 s", "1.5 h".
export function shortTime(s: number): string {
  const [size, unit] = s < 120 ? [1, 's'] : s < 7_200 ? [60, 'min'] : s < 172_800 ? [3_600, 'h'] : [86_400, 'd'];
  return `${(s / size).toLocaleString('en', { maximumFractionDigits: s / size < 10 ? 1 : 0 })} ${unit}`;
}

// The metrics that any of the mechanisms has, in the order above.
export function measured(mechanisms: { metrics?: Record<string, unknown> }[]): Measure[] {
  const fields = new Set(mechanisms.flatMap((m) => Object.keys(m.metrics ?? {})));
  const known = measures.filter((m) => fields.delete(m.field));
  return [...known, ...[...fields].map(measureOf)];
}

// Where intervals lie on a line from 0% to 100% that holds all of them, and 0 where it is near.
export type Place = { low: number; mean: number; high: number };

export function places(estimates: Estimate[]): Place[] {
  let from = Math.min(...estimates.map((e) => e.low));
  let to = Math.max(...estimates.map((e) => e.high));
  if (from > 0 && from < (to - from) * 0.5) from = 0;
  const room = (to - from || Math.abs(to) || 1) * 0.04;
  from -= from === 0 ? 0 : room;
  to += room;
  const at = (v: number) => (100 * (v - from)) / (to - from);
  return estimates.map((e) => ({ low: at(e.low), mean: at(e.mean), high: at(e.high) }));
}
