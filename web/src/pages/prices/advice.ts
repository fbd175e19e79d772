import { count, credits } from '../../format';
import { type Book, freeAt, priceOf, slotsOf, wantedAt } from './book';

// The book as it stands, for who comes next. Others may come first.

const some = (slots: number) => (slots === 0 ? 'no slots' : count(slots, 'slot'));
const be = (slots: number) => (slots === 1 ? 'is' : 'are');

export function borrowing({ asks }: Book, slots: number, suggested: number): string {
  const all = slotsOf(asks);
  const price = priceOf(asks, slots);
  const free = freeAt(asks, suggested);
  const usual = credits(suggested);
  if (all === 0)
    return `No slot is free now. A job waits for one, and is more likely to get it with a limit of ${usual} or more.`;
  if (price === undefined)
    return (
      `Only ${count(all, 'slot')} ${be(all)} free now, whatever you bid. ` +
      'A job can begin with fewer workers and grow.'
    );
  if (price <= suggested)
    return `A limit of ${usual}, the suggested price, is enough: ${some(free)} free at that price or less.`;
  return (
    `Bid ${credits(price)} or more. ` +
    `At the suggested price of ${usual} there ${be(free)} ${some(free)} free.`
  );
}

export function lending({ bids }: Book, slots: number, suggested: number): string {
  const all = slotsOf(bids);
  const price = priceOf(bids, slots);
  const wanted = some(wantedAt(bids, suggested));
  const usual = credits(suggested);
  if (all === 0)
    return (
      `No job waits for a slot now. Offer at ${usual}, the suggested price, ` +
      'or at the market’s price to be among the first when one comes.'
    );
  if (price === undefined)
    return (
      `Only ${count(all, 'slot')} ${be(all)} wanted now. ` +
      `At ${credits(priceOf(bids, all) ?? suggested)} or less all of those could go to you.`
    );
  if (price >= suggested)
    return (
      `At ${usual}, the suggested price, jobs that wait now would take all of it: ` +
      `they want ${wanted} at that price or more.`
    );
  return (
    `At ${credits(price)} or less jobs that wait now would take all of it. ` +
    `At the suggested price of ${usual} they want ${wanted}.`
  );
}
