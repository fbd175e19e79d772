// Weekly windows as people draw them: spans of a week in minutes on the wall clock of one time zone,
// with Monday 00:00 as 0. The week is a ring: a span that begins on Sunday evening ends beyond
// kWeek, on Monday. The market takes windows that touch for one opening, so spans that touch are one
// here too. weekly.ts writes them as the market does.

export const kDay = 1_440;
export const kWeek = 7 * kDay;
export const kStep = 30; // What is drawn with a pointer snaps to half hours.
export const kSteps = kDay / kStep;

export const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

// 0 <= from < kWeek, from < to <= from + kWeek.
export type Span = { from: number; to: number };
export type Cell = { day: number; step: number };

const two = (n: number) => String(n).padStart(2, '0');
const mod = (n: number, by: number) => ((n % by) + by) % by;

export function clock(minutes: number): string {
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

// "22:00" -> 1320, up to 24:00; NaN for anything else.
export function minutesOf(text: string): number {
  const found = /^(\d{1,2}):(\d{2})$/.exec(text);
  if (!found) return NaN;
  const minutes = Number(found[1]) * 60 + Number(found[2]);
  return Number(found[2]) < 60 && minutes <= kDay ? minutes : NaN;
}

export function cellLabel({ day, step }: Cell): string {
  return `${days[day]} ${clock(step * kStep)}`;
}

export const minuteOf = ({ day, step }: Cell): number => day * kDay + step * kStep;

// --- Sets of spans

// Sorted, apart from each other, at most one of them across the end of the week.
export function normal(spans: Span[]): Span[] {
  const pieces = spans
    .flatMap(({ from, to }) => {
      const at = mod(from, kWeek);
      const end = at + Math.min(to - from, kWeek);
      return end <= kWeek ? [{ from: at, to: end }] : [{ from: at, to: kWeek }, { from: 0, to: end - kWeek }];
    })
    .filter(({ from, to }) => from < to)
    .sort((a, b) => a.from - b.from);
  const out: Span[] = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    if (last && piece.from <= last.to) last.to = Math.max(last.to, piece.to);
    else out.push({ ...piece });
  }
  const first = out[0];
  const last = out.at(-1);
  if (first && last && first !== last && first.from === 0 && last.to === kWeek) {
    last.to += first.to;
    out.shift();
  }
  return out;
}

export const add = (spans: Span[], more: Span[]): Span[] => normal([...spans, ...more]);

export function erase(spans: Span[], less: Span[]): Span[] {
  return less.reduce((left, cut) => {
    // On a line long enough for any span of the ring, the cut is seen once per week.
    const holes = [-kWeek, 0, kWeek].map((shift) => ({ from: cut.from + shift, to: cut.to + shift }));
    return normal(
      left.flatMap((span) =>
        holes.reduce<Span[]>(
          (parts, hole) =>
            parts.flatMap((p) => [
              { from: p.from, to: Math.min(p.to, hole.from) },
              { from: Math.max(p.from, hole.to), to: p.to },
            ].filter((q) => q.from < q.to)),
          [span],
        ),
      ),
    );
  }, normal(spans));
}

export const isWholeWeek = (spans: Span[]): boolean => spans.some(({ from, to }) => to - from >= kWeek);

export const hoursOpen = (spans: Span[]): number =>
  normal(spans).reduce((sum, { from, to }) => sum + (to - from), 0) / 60;

// Which span a stretch of time touches: its place in the list, -1 for none.
export function spanAt(spans: Span[], minute: number, length = kStep): number {
  return spans.findIndex(({ from, to }) =>
    [0, kWeek].some((shift) => minute + shift < to && minute + shift + length > from),
  );
}

// --- Drawing

// What a drag from one half hour to another means. Downwards, the same hours of each day passed;
// across days and upwards, nights: each begins at the time on the left and ends the next day at the
// time on the right.
export function drawn(a: Cell, b: Cell): Span[] {
  const [left, right] = a.day < b.day || (a.day === b.day && a.step <= b.step) ? [a, b] : [b, a];
  const overnight = left.day < right.day && left.step > right.step;
  const count = right.day - left.day + (overnight ? 0 : 1);
  const start = left.step * kStep;
  const end = (right.step + 1) * kStep + (overnight ? kDay : 0);
  return Array.from({ length: count }, (_, i) => ({
    from: (left.day + i) * kDay + start,
    to: (left.day + i) * kDay + end,
  }));
}

// The part of a span in one column of the calendar.
export type Block = { day: number; top: number; bottom: number; span: number; first: boolean; last: boolean };

export function blocks(spans: Span[]): Block[] {
  return spans.flatMap(({ from, to }, span) => {
    const out: Block[] = [];
    for (let at = from; at < to; ) {
      const midnight = (Math.floor(at / kDay) + 1) * kDay;
      const end = Math.min(to, midnight);
      out.push({
        day: Math.floor(at / kDay) % 7,
        top: at % kDay,
        bottom: end - midnight + kDay,
        span,
        first: at === from,
        last: end === to,
      });
      at = end;
    }
    return out;
  });
}

// "Monday 22:00 to Tuesday 05:00". An end at midnight belongs to the day before it.
export function describe({ from, to }: Span): string {
  if (to - from >= kWeek) return 'the whole week';
  const day = (minute: number) => days[mod(Math.floor(minute / kDay), 7)];
  const end = mod(to, kDay) === 0 ? kDay : to % kDay;
  const same = to - Math.floor(from / kDay) * kDay <= kDay;
  return `${day(from)} ${clock(from % kDay)} to ${same ? '' : `${day(to - 1)} `}${clock(end)}`;
}
