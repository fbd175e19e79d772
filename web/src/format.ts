// Numbers, credits, times and sizes for people.

const kMostPlaces = 6; // A micro-credit.

// So many that three digits count.
function places(amount: number): number {
  const size = Math.abs(amount);
  if (size === 0) return 0;
  return Math.min(kMostPlaces, Math.max(0, 2 - Math.floor(Math.log10(size) + 1e-9)));
}

const fixed = (amount: number, digits: number) =>
  (amount === 0 ? 0 : amount).toLocaleString('en', { maximumFractionDigits: digits });

// Credits as people read them: three digits that count, and never fewer than the whole part has.
// `step`: between two of a row of amounts, which then have the same decimals.
export function credits(amount: number, step?: number): string {
  if (step !== undefined && step > 0) {
    const same = Math.max(2, Math.min(kMostPlaces, decimals(step, kMostPlaces)));
    return amount.toLocaleString('en', { minimumFractionDigits: same, maximumFractionDigits: same });
  }
  return fixed(amount, places(amount));
}

// To the micro-credit.
export function exactCredits(amount: number): string {
  return fixed(amount, kMostPlaces);
}

// Parts of a sum, and behind them the sum: with as many digits as the smallest part needs, so that
// what is shown adds up.
export function creditsInSum(parts: number[]): string[] {
  const digits = Math.max(0, ...parts.map(places));
  const scale = 10 ** digits;
  const whole = parts.map((part) => Math.round(part * scale));
  const sum = Math.round(parts.reduce((a, b) => a + b, 0) * scale);
  const largest = parts.reduce((best, part, i) => (Math.abs(part) > Math.abs(parts[best] ?? 0) ? i : best), 0);
  const others = whole.reduce((a, b, i) => (i === largest ? a : a + b), 0);
  return [...whole.map((n, i) => (i === largest ? sum - others : n)), sum].map((n) => fixed(n / scale, digits));
}

export function count(n: number, noun: string, many = `${noun}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? noun : many}`;
}

// Rounding never makes 100% or 0% of what is neither: 99.9% stays 99.9%.
export function percent(share: number, digits = 0): string {
  const exact = 100 * share;
  for (let d = digits; d < 4; ++d) {
    const text = exact.toFixed(d);
    if ((Number(text) !== 100 || exact === 100) && (Number(text) !== 0 || exact === 0)) return `${text}%`;
  }
  return `${exact.toFixed(digits)}%`;
}

// As many as numbers that are `step` apart need.
export function decimals(step: number, most = 4): number {
  let out = 0;
  while (out < most && Math.abs(step * 10 ** out - Math.round(step * 10 ** out)) > 1e-6) ++out;
  return out;
}

export function bytes(n: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  while (n >= 1024 && i + 1 < units.length) {
    n /= 1024;
    ++i;
  }
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}

const kUnits: Record<string, number> = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1, ms: 1e-3, us: 1e-6 };

// "1h30m" as the API writes lengths of time, in seconds; NaN for anything else.
export function seconds(text: string): number {
  let out = 0;
  let seen = '';
  for (const part of text.matchAll(/(\d+(?:\.\d+)?)(ms|us|[wdhms])/g)) {
    out += Number(part[1]) * (kUnits[part[2] ?? ''] ?? NaN);
    seen += part[0];
  }
  return seen === text && text !== '' ? out : text === '0' ? 0 : NaN;
}

// Two units at most: "1 h 30 min".
export function duration(s: number): string {
  if (!Number.isFinite(s)) return '–';
  if (s === 0) return '0 s';
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
  const parts: [number, string][] = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
    [1, 's'],
  ];
  const out: string[] = [];
  let rest = Math.round(s);
  for (const [size, unit] of parts) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n > 0) out.push(`${n} ${unit}`);
    if (out.length === 2 || (out.length === 1 && n === 0)) break;
  }
  return out.join(' ');
}

export function dateTime(iso: string | number | Date): string {
  return new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

export function ago(iso: string, now = Date.now()): string {
  const s = (now - Date.parse(iso)) / 1000;
  if (Math.abs(s) < 5) return 'just now';
  const text = duration(Math.abs(s)).split(' ').slice(0, 2).join(' ');
  return s >= 0 ? `${text} ago` : `in ${text}`;
}

export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
