import type { Schemas } from '../../api/client';

// What an offer would earn in a week, if the market stays as it was. An estimate: it says what it
// assumes.

export type Prices = Schemas['Prices'];
export type Power = { watts: number; perKwh: number };

export type Estimate = {
  price: number; // Per slot-hour, when leased.
  use: number | undefined; // Share of the slots of this class that were leased; none: not known.
  willing: number; // Share of what was traded at the offer's own price or more.
  gross: number;
  full: number; // If every open hour were leased.
  power: number;
  net: number;
};

const kRecentHours = 24;

// How much of what a summary counts was paid at `price` or more, by its quartiles.
export function shareAtLeast(summary: Schemas['PriceSummary'], price: number): number {
  const { low, quartile1, median, quartile3, high } = summary;
  const points = [low, quartile1, median, quartile3, high].flatMap((p) => (p === undefined ? [] : [p]));
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 5 || price > last) return 0;
  if (price <= first) return 1;
  for (let i = 1; i < points.length; ++i) {
    const [a = 0, b = 0] = [points[i - 1], points[i]];
    if (price <= b) return 1 - ((i - 1) + (b > a ? (price - a) / (b - a) : 1)) / (points.length - 1);
  }
  return 0;
}

// The mean of the last day.
export function presentUse(prices: Prices): number | undefined {
  const known = (prices.buckets ?? []).slice(-kRecentHours).flatMap((b) => b.utilisation ?? []);
  return known.length > 0 ? known.reduce((a, b) => a + b, 0) / known.length : undefined;
}

export function estimate(
  prices: Prices,
  offer: { price: number | undefined; slots: number; hours: number; fee: number },
  power: Power,
): Estimate {
  const usual = prices.summary.average ?? prices.suggested;
  const own = offer.price ?? 0;
  // A round pays everybody its price, and nobody less than their own.
  const price = Math.max(own, usual);
  const willing =
    prices.summary.volume === 0 || own === 0
      ? 1
      : (prices.buckets ?? []).reduce((sum, b) => sum + b.prices.volume * shareAtLeast(b.prices, own), 0) /
        prices.summary.volume;
  const use = presentUse(prices);
  const full = offer.slots * offer.hours * price * (1 - offer.fee);
  const gross = full * (use ?? 1) * Math.min(1, willing);
  const cost = (power.watts / 1000) * offer.hours * power.perKwh;
  return { price, use, willing: Math.min(1, willing), gross, full, power: cost, net: gross - cost };
}
