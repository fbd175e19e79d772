import { clock, days, kDay, minutesOf, normal, type Span } from './spans';

export * from './spans';

// Weekly windows as the market writes them: "Mon,Wed 22:00-05:00 America/Los_Angeles"
// (docs/lending.md), to and from the spans that are drawn.

export const kMostWindows = 32; // Of one offer: the market's limit.

const shortDays = days.map((d) => d.slice(0, 3));

export type Windows = {
  zone: string;
  spans: Span[];
  others: string[]; // In another time zone, or not understood: kept as they are.
};

type Weekly = { days: number[]; start: number; end: number; zone: string };

export function parseWeekly(text: string): Weekly | undefined {
  const found = /^\s*(\S+)\s+(\d{1,2}:\d{2})-(\d{1,2}:\d{2})(?:\s+(\S+))?\s*$/.exec(text);
  if (!found) return undefined;
  const [, names = '', from = '', to = '', zone = 'UTC'] = found;
  const start = minutesOf(from);
  const end = minutesOf(to);
  const set = new Set<number>();
  for (const part of names === 'daily' ? ['Mon-Sun'] : names.split(',')) {
    const [first = '', last = first] = part.split('-');
    const a = shortDays.indexOf(first);
    const b = shortDays.indexOf(last);
    if (a < 0 || b < 0) return undefined;
    for (let d = a; ; d = (d + 1) % 7) {
      set.add(d);
      if (d === b) break;
    }
  }
  if (Number.isNaN(start) || Number.isNaN(end) || start === kDay) return undefined;
  return { days: [...set].sort((a, b) => a - b), start, end: end === 0 ? kDay : end, zone };
}

// What an offer says, on the clock of the time zone that most of its windows are in.
export function readWindows(weekly: string[], otherwise: string): Windows {
  const read = weekly.map(parseWeekly);
  const votes = new Map<string, number>();
  for (const w of read) if (w) votes.set(w.zone, (votes.get(w.zone) ?? 0) + w.days.length);
  const [zone = otherwise] = [...votes].sort((a, b) => b[1] - a[1])[0] ?? [];
  const spans: Span[] = [];
  const others: string[] = [];
  weekly.forEach((text, i) => {
    const w = read[i];
    if (w?.zone !== zone) return others.push(text);
    for (const d of w.days)
      spans.push({ from: d * kDay + w.start, to: d * kDay + w.end + (w.end <= w.start ? kDay : 0) });
    return undefined;
  });
  return { zone, spans: normal(spans), others };
}

// One window lasts a day at most: longer spans are cut at midnight, where they touch.
function pieces({ from, to }: Span): Span[] {
  if (to - from <= kDay) return [{ from, to }];
  const out: Span[] = [];
  for (let at = from; at < to; at = Math.min(to, (Math.floor(at / kDay) + 1) * kDay))
    out.push({ from: at, to: Math.min(to, (Math.floor(at / kDay) + 1) * kDay) });
  return out;
}

export function writeWindows({ zone, spans, others }: Windows): string[] {
  const groups = new Map<string, number[]>();
  for (const { from, to } of normal(spans).flatMap(pieces)) {
    const hours = `${clock(from % kDay)}-${clock(to % kDay === 0 ? kDay : to % kDay)}`;
    groups.set(hours, [...(groups.get(hours) ?? []), Math.floor(from / kDay) % 7]);
  }
  const lines = [...groups].map(([hours, list]) => {
    const sorted = [...list].sort((a, b) => a - b);
    const names = sorted.length === 7 ? 'daily' : sorted.map((d) => shortDays[d]).join(',');
    return { first: sorted[0] ?? 0, text: `${names} ${hours} ${zone}` };
  });
  return [...lines.sort((a, b) => a.first - b.first).map((l) => l.text), ...others];
}

// The minute of the week that a clock in `zone` shows.
export function minuteIn(zone: string, at: Date): number {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: zone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23',
  }).formatToParts(at);
  const part = (type: string) => parts.find((p) => p.type === type)?.value ?? '';
  return shortDays.indexOf(part('weekday')) * kDay + Number(part('hour')) * 60 + Number(part('minute'));
}

// All time zones of this browser, the likely ones first.
export function timeZones(...first: string[]): string[] {
  return [...new Set([...first, 'UTC', ...Intl.supportedValuesOf('timeZone')])];
}
