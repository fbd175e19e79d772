import type { Schemas } from '../../api/client';

// Price history as columns for charts, rows for the table and text for a file.

type Bucket = Schemas['PriceBucket'];
type Value = number | null;

export type Columns = {
  x: number[]; // Seconds since 1970.
  median: Value[];
  quartile1: Value[];
  quartile3: Value[];
  low: Value[];
  high: Value[];
  volume: Value[];
  utilisation: Value[];
};

type Prices = Bucket['prices'];

// Neighbours as one: the extremes of all, the middle weighted by volume.
function together(buckets: Bucket[]): Bucket {
  const traded = buckets.map((b) => b.prices).filter((p) => p.volume > 0);
  const volume = traded.reduce((sum, p) => sum + p.volume, 0);
  const mean = (pick: (p: Prices) => number | undefined) =>
    traded.reduce((sum, p) => sum + p.volume * (pick(p) ?? 0), 0) / volume;
  const used = buckets.flatMap((b) => (b.utilisation === undefined ? [] : [b.utilisation]));
  return {
    from: buckets[0]?.from ?? '',
    prices:
      volume === 0
        ? { volume }
        : {
            volume,
            average: mean((p) => p.average),
            low: Math.min(...traded.map((p) => p.low ?? Infinity)),
            quartile1: mean((p) => p.quartile1),
            median: mean((p) => p.median),
            quartile3: mean((p) => p.quartile3),
            high: Math.max(...traded.map((p) => p.high ?? -Infinity)),
          },
    ...(used.length > 0 ? { utilisation: used.reduce((a, b) => a + b, 0) / used.length } : {}),
  };
}

// At most so many, for a chart of that many pixels: more would be a blot.
export function merged(buckets: Bucket[], most: number): Bucket[] {
  if (buckets.length <= most) return buckets;
  const size = Math.ceil(buckets.length / most);
  const out: Bucket[] = [];
  for (let i = 0; i < buckets.length; i += size) out.push(together(buckets.slice(i, i + size)));
  return out;
}

// Those that begin at `since` or later, in seconds.
export function columns(all: Bucket[], since: number): Columns {
  const buckets = all.filter((b) => Date.parse(b.from) / 1000 >= since);
  const of = (pick: (b: Bucket) => number | undefined) => buckets.map((b) => pick(b) ?? null);
  return {
    x: buckets.map((b) => Date.parse(b.from) / 1000),
    median: of((b) => b.prices.median),
    quartile1: of((b) => b.prices.quartile1),
    quartile3: of((b) => b.prices.quartile3),
    low: of((b) => b.prices.low),
    high: of((b) => b.prices.high),
    volume: of((b) => b.prices.volume),
    utilisation: of((b) => b.utilisation),
  };
}

const kHead = 'from,volume,average,low,quartile1,median,quartile3,high,utilisation';

export function csv(buckets: Bucket[]): string {
  const rows = buckets.map(({ from, prices: p, utilisation }) =>
    [from, p.volume, p.average, p.low, p.quartile1, p.median, p.quartile3, p.high, utilisation]
      .map((v) => v ?? '')
      .join(','),
  );
  return `${[kHead, ...rows].join('\n')}\n`;
}

// Hours that follow each other at one price are one time slot.
export type TimeSlot = { from: number; until: number; price: number };
const kHour = 3_600_000;

export function timeSlots(ahead: Schemas['Suggestion'][]): TimeSlot[] {
  const out: TimeSlot[] = [];
  for (const { from, price } of ahead) {
    const at = Date.parse(from);
    const last = out.at(-1);
    if (last && last.price === price && last.until === at) last.until = at + kHour;
    else out.push({ from: at, until: at + kHour, price });
  }
  return out;
}

// The cheapest and the dearest, the earliest of each.
export function extremes(slots: TimeSlot[]): { low: TimeSlot; high: TimeSlot } | undefined {
  const [first] = slots;
  if (!first) return undefined;
  let low = first;
  let high = first;
  for (const s of slots) {
    if (s.price < low.price) low = s;
    if (s.price > high.price) high = s;
  }
  return { low, high };
}

// "21:00–08:00", with the day where it is not today.
export function slotTime({ from, until }: { from: number; until: number }, now = Date.now()): string {
  const time = (t: number) => new Date(t).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  const day = new Date(from);
  const today = day.toDateString() === new Date(now).toDateString();
  const name = today ? '' : `${day.toLocaleDateString(undefined, { weekday: 'short' })} `;
  return until - from >= 24 * kHour ? 'all day' : `${name}${time(from)}–${time(until)}`;
}
