// Numbers, credits, times and sizes for people.

export function credits(amount: number): string {
  const size = Math.abs(amount);
  const digits = size === 0 || size >= 100 ? 2 : size >= 1 ? 3 : 4;
  return amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: digits });
}

export function count(n: number, noun: string, many = `${noun}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? noun : many}`;
}

export function percent(share: number, digits = 0): string {
  return `${(100 * share).toFixed(digits)}%`;
}

// As many as numbers that are `step` apart need.
export function decimals(step: number): number {
  let out = 0;
  while (out < 4 && Math.abs(step * 10 ** out - Math.round(step * 10 ** out)) > 1e-6) ++out;
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
