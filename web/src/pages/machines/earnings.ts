import type { Schemas } from '../../api/client';
import { type ClassEarnings, fullWeek } from '../../parts/worth-words';

// What an offer would earn in a week on the terms that are being chosen. The market estimates how much
// is leased (/v1/earnings), here as everywhere; price and hours are those of the offer.

export type Prices = Schemas['Prices'];
export type Power = { watts: number; perKwh: number };

export type Estimate = {
  price: number; // Per slot-hour, when leased.
  use: number | undefined; // Share of the open hours that would be leased; none: not known.
  willing: number; // Share of what was traded at the offer's own price or more.
  gross: number | undefined; // Not known without `use`, like `net`.
  full: number; // If every open hour were leased.
  power: number;
  net: number | undefined;
};

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

// The share of a week that the market expects to be leased.
export function expectedUse(worth: ClassEarnings | undefined, fee: number): number | undefined {
  const most = worth ? fullWeek(worth) * (1 - fee) : 0;
  return worth?.week && most > 0 ? worth.week.expected / most : undefined;
}

export function estimate(
  prices: Prices,
  worth: ClassEarnings | undefined,
  offer: { price: number | undefined; slots: number; hours: number; fee: number },
  power: Power,
): Estimate {
  const usual = worth?.price ?? prices.suggested;
  const own = offer.price ?? 0;
  // A round pays everybody its price, and nobody less than their own.
  const price = Math.max(own, usual);
  const willing =
    prices.summary.volume === 0 || own === 0
      ? 1
      : (prices.buckets ?? []).reduce((sum, b) => sum + b.prices.volume * shareAtLeast(b.prices, own), 0) /
        prices.summary.volume;
  const use = expectedUse(worth, offer.fee);
  const full = offer.slots * offer.hours * price * (1 - offer.fee);
  const gross = use === undefined ? undefined : full * use * Math.min(1, willing);
  const cost = (power.watts / 1000) * offer.hours * power.perKwh;
  const net = gross === undefined ? undefined : gross - cost;
  return { price, use, willing: Math.min(1, willing), gross, full, power: cost, net };
}
