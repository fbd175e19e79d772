import { count, credits } from '../../format';
import { type Book, freeAt, priceOf, slotsOf, wantedAt } from './book';

// The book as it stands, for who comes next. Others may come first.

const some = (slots: number) => (slots === 0 ? 'no slots' : count(slots, 'slot'));

export function borrowing({ asks }: Book, slots: number, suggested: number): string {
  const all = slotsOf(asks);
  if (all === 0)
    return `No slot is free now. A job waits for one, and is more likely to get it with a limit of ${credits(suggested)} or more.`;
  const price = priceOf(asks, slots);
  if (price === undefined)
    return `Only ${count(all, 'slot')} ${all === 1 ? 'is' : 'are'} free now, whatever you bid. A job can begin with fewer workers and grow.`;
  if (price <= suggested)
    return `A limit of ${credits(suggested)}, the suggested price, is enough: ${some(freeAt(asks, suggested))} free at that price or less.`;
  return `Bid ${credits(price)} or more. At the suggested price of ${credits(suggested)} there ${freeAt(asks, suggested) === 1 ? 'is' : 'are'} ${some(freeAt(asks, suggested))} free.`;
}

export function lending({ bids }: Book, slots: number, suggested: number): string {
  const all = slotsOf(bids);
  if (all === 0)
    return `No job waits for a slot now. Offer at ${credits(suggested)}, the suggested price, or at the market’s price to be among the first when one comes.`;
  const price = priceOf(bids, slots);
  if (price === undefined)
    return `Only ${count(all, 'slot')} ${all === 1 ? 'is' : 'are'} wanted now. At ${credits(priceOf(bids, all) ?? suggested)} or less all of those could go to you.`;
  if (price >= suggested)
    return `At ${credits(suggested)}, the suggested price, jobs that wait now would take all of it: they want ${some(wantedAt(bids, suggested))} at that price or more.`;
  return `At ${credits(price)} or less jobs that wait now would take all of it. At the suggested price of ${credits(suggested)} they want ${some(wantedAt(bids, suggested))}.`;
}
