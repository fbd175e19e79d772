// The properties of mechanisms, which the API tells as data, in everybody's words.
import type { Schemas } from '../api/client';

type Properties = Schemas['MechanismProperties'];

export type Property = {
  text: string;
  kind: 'good' | 'limit' | 'plain'; // A promise, what is not promised, or something to know.
};

const good = (text: string): Property => ({ kind: 'good', text });
const limit = (text: string): Property => ({ kind: 'limit', text });
const plain = (text: string): Property => ({ kind: 'plain', text });

// What is worth no words is undefined. The compiler asks for every enumerator of the API.
type Words<E extends string> = Record<E, Property | undefined>;

const kTruthfulness: Words<Schemas['Truthfulness']> = {
  none: limit('Naming a price other than your true one can pay off.'),
  in_units: good('Asking for more than you need gains nothing.'),
  for_buyers: good('A borrower who bids alone does best by bidding what a slot is worth to them.'),
  in_price: good('Naming your true price is best, whatever others do.'),
  in_price_and_units: good('Naming your true price and number of slots is best, whatever others do.'),
  for_single_minded: good('Naming your true price is best for bidders who want one bundle or nothing.'),
};

const kBalance: Words<Schemas['BudgetBalance']> = {
  strong: good('Lenders get all that borrowers pay, less the fee.'),
  weak: plain('Borrowers may pay more than lenders get; the market keeps the rest.'),
  deficit: limit('Lenders can get more than borrowers pay.'),
};

const kEfficiency: Words<Schemas['Efficiency']> = {
  none: limit('Slots do not always go where they are worth most.'),
  pareto: good('Nobody could have more without another having less.'),
  within_factor: plain('The use of slots is within a fixed factor of the best possible.'),
  within_price: plain('The use of slots is as good as the price that comes from outside.'),
  in_large_markets: good('In large markets slots go where they are worth most.'),
  but_one_deal: plain('Near the best possible use of slots: at most one deal is lost with one unit each.'),
  if_truthful: good('Slots go where they are worth most, if all are truthful and without gangs.'),
  full: good('Slots go where they are worth most.'),
};

const kSybil: Words<Schemas['SybilProofness']> = {
  none: limit('Trading under several names can pay off.'),
  for_buyers: good('Trading under several names gains borrowers without gangs nothing.'),
  on_one_side: plain('Trading under several names gains nothing, on one side.'),
  within_round: good('Trading under several names gains nothing within a round.'),
};

const kOwnDemand: Words<Schemas['OwnDemand']> = {
  can_raise_price: limit('Wanting more slots can raise the price of those you would have had anyway.'),
  never_raises_price: good('Wanting more slots never raises the price of those you would have had anyway.'),
};

const kFairness: Words<Schemas['Fairness']> = {
  none: undefined,
  shares: good('Everybody gets an equal share, as far as they want it.'),
  service: good('Everybody is served alike, measured by what slots do for each job.'),
  near_service: good('Everybody is served nearly alike, measured by what slots do for each job.'),
  time_to_finish: good('Nobody waits much longer than with an equal part for itself.'),
};

const kMeasurements: Words<Schemas['Measurements']> = {
  none: undefined,
  rates: good('How fast jobs run is measured: nobody can misstate it.'),
  rates_and_work: good('How fast jobs run and what they have left is measured: nobody can misstate it.'),
};

export function propertiesOf(p: Properties): Property[] {
  return [
    p.individually_rational ? good('Nobody loses by taking part.') : limit('Taking part can cost more than it gains.'),
    kTruthfulness[p.truthfulness],
    kBalance[p.budget_balance],
    kEfficiency[p.efficiency],
    kSybil[p.sybil_proofness],
    kOwnDemand[p.own_demand],
    kFairness[p.fairness],
    kMeasurements[p.measurements],
    p.sets_prices ? undefined : plain('Prices do not decide who gets slots.'),
    p.gangs || p.goods === 'bundles' ? undefined : limit('Jobs that need several workers at once cannot take part.'),
    p.live ? undefined : limit('Only for the lab.'),
  ].filter((property) => property !== undefined);
}

// Is the best advice to name one's true price?
export const truthful = (p: Properties) => p.truthfulness !== 'none' && p.truthfulness !== 'in_units';

// "k-double (kappa 0.25)".
export function described(name: string, params: Record<string, string> = {}): string {
  const pairs = Object.entries(params).map(([key, value]) => `${key} ${value}`);
  return pairs.length === 0 ? name : `${name} (${pairs.join(', ')})`;
}

// Without what was left empty.
export function given(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params)
      .map(([key, value]) => [key, value.trim()] as const)
      .filter(([, value]) => value !== ''),
  );
}
