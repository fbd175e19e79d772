// What a book looks like as curves, and what it means for who comes next.

// Slots at one price. Asks come from the lowest price up, bids from the highest down.
export type Level = { price: number; slots: number; market?: boolean };
export type Book = { asks: Level[]; bids: Level[] };

export type Depth = { x: number[]; supply: (number | null)[]; demand: (number | null)[] };

// Where each level begins, and the end of the last.
function starts(levels: Level[]): number[] {
  const out = [0];
  for (const { slots } of levels) out.push((out.at(-1) ?? 0) + slots);
  return out;
}

// The price of the slot that follows `at`; at the very end, of the last one.
function priceAfter(levels: Level[], begins: number[], at: number, from: number): [number | null, number] {
  let i = from;
  while (i + 1 < levels.length && (begins[i + 1] ?? Infinity) <= at) ++i;
  const end = begins[levels.length] ?? 0;
  return [levels.length === 0 || at > end ? null : (levels[i]?.price ?? null), i];
}

// Both curves over the same x: slots from the best price on. Each value holds until the next x.
export function depth(asks: Level[], bids: Level[]): Depth {
  const a = starts(asks);
  const b = starts(bids);
  const x = [...new Set([...(asks.length ? a : []), ...(bids.length ? b : [])])].sort((p, q) => p - q);
  const out: Depth = { x, supply: [], demand: [] };
  let i = 0;
  let j = 0;
  for (const at of x) {
    const [ask, nextI] = priceAfter(asks, a, at, i);
    const [bid, nextJ] = priceAfter(bids, b, at, j);
    i = nextI;
    j = nextJ;
    out.supply.push(ask);
    out.demand.push(bid);
  }
  return out;
}

// So many slots could trade by their prices alone, at any price from `low` to `high`.
export type Crossing = { slots: number; low: number; high: number };

export function crossing(asks: Level[], bids: Level[]): Crossing | undefined {
  let i = 0;
  let j = 0;
  let askLeft = asks[0]?.slots ?? 0;
  let bidLeft = bids[0]?.slots ?? 0;
  let slots = 0;
  let last: { ask: number; bid: number } | undefined;
  for (;;) {
    const ask = asks[i];
    const bid = bids[j];
    if (!ask || !bid || bid.price < ask.price) break;
    const n = Math.min(askLeft, bidLeft);
    slots += n;
    last = { ask: ask.price, bid: bid.price };
    askLeft -= n;
    bidLeft -= n;
    if (askLeft === 0) askLeft = asks[++i]?.slots ?? 0;
    if (bidLeft === 0) bidLeft = bids[++j]?.slots ?? 0;
  }
  if (!last) return undefined;
  return {
    slots,
    low: Math.max(last.ask, bids[j]?.price ?? 0),
    high: Math.min(last.bid, asks[i]?.price ?? Infinity),
  };
}

export const slotsOf = (levels: Level[]) => levels.reduce((sum, { slots }) => sum + slots, 0);

// The price of the n-th slot: who wants n must name at least that, who lends n at most that.
export function priceOf(levels: Level[], n: number): number | undefined {
  let before = 0;
  for (const { price, slots } of levels) {
    before += slots;
    if (before >= n) return price;
  }
  return undefined;
}

export const freeAt = (asks: Level[], price: number) => slotsOf(asks.filter((a) => a.price <= price));
export const wantedAt = (bids: Level[], price: number) => slotsOf(bids.filter((b) => b.price >= price));
