import type { Schemas } from '../../api/client';

// What came in and went out over time, from the lines of a statement. The payments of one lease are
// one line, which counts when its last payment was made.

export type Line = Schemas['StatementLine'];
export type Span = 'day' | 'week' | 'month';
export type Flow = { x: number[]; until: number; earned: number[]; spent: number[]; earnedInAll: number; spentInAll: number };

const kBuckets: Record<Span, { count: number; unit: 'hour' | 'day' }> = {
  day: { count: 24, unit: 'hour' },
  week: { count: 7, unit: 'day' },
  month: { count: 30, unit: 'day' },
};

// Beginnings of hours or days on this computer's clock, oldest first; the last one holds `now`.
function starts(span: Span, now: Date): number[] {
  const { count, unit } = kBuckets[span];
  return Array.from({ length: count }, (_, i) => {
    const at = new Date(now);
    const back = count - 1 - i;
    if (unit === 'hour') {
      at.setMinutes(0, 0, 0);
      return at.getTime() - back * 3_600_000;
    }
    at.setHours(0, 0, 0, 0);
    at.setDate(at.getDate() - back); // Days of 23 and 25 hours too.
    return at.getTime();
  });
}

// Of the last hour or day.
function endOf(start: number, span: Span): number {
  if (kBuckets[span].unit === 'hour') return start + 3_600_000;
  const at = new Date(start);
  at.setDate(at.getDate() + 1);
  return at.getTime();
}

export const isFlow = ({ kind }: Line): boolean => kind === 'earn' || kind === 'spend';

export function flowOf(lines: Line[], span: Span, now: Date): Flow {
  const begin = starts(span, now);
  const out: Flow = {
    x: begin.map((t) => t / 1000),
    until: endOf(begin.at(-1) ?? 0, span) / 1000,
    earned: begin.map(() => 0),
    spent: begin.map(() => 0),
    earnedInAll: 0,
    spentInAll: 0,
  };
  for (const { at, kind, amount } of lines.filter(isFlow)) {
    const time = Date.parse(at);
    const i = begin.filter((t) => t <= time).length - 1;
    if (i < 0) continue;
    const into = kind === 'earn' ? out.earned : out.spent;
    into[i] = (into[i] ?? 0) + amount;
    if (kind === 'earn') out.earnedInAll += amount;
    else out.spentInAll -= amount;
  }
  return out;
}

// The shortest that shows everything there is.
export function usualSpan(lines: Line[], now: Date): Span {
  const first = lines.filter(isFlow).reduce((least, l) => Math.min(least, Date.parse(l.at)), Infinity);
  const days = (now.getTime() - first) / 86_400_000;
  if (!Number.isFinite(days)) return 'week';
  return days < 0.9 ? 'day' : days < 6 ? 'week' : 'month';
}
