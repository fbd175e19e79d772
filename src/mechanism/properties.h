#pragma once

#include "base/fields.h"

// What a mechanism promises, as data. Each enumerator is defined here once; the header of each
// mechanism argues its own, and tests search for exceptions to what is claimed.

namespace souk::mechanism {

// For whom and in what saying the truth is best, whatever others do.
//   none               lying about the price can pay off
//   in_units           asking for more units than one needs gains nothing; prices can be shaded
//   for_buyers         in price, for buyers without a gang; sellers can gain
//   in_price           in price, on both sides; lying about units can pay off
//   in_price_and_units in both, on both sides, gangs aside
//   for_single_minded  in price and bundle, for bidders who want one bundle or nothing
SOUK_ENUM(Truthfulness, none, in_units, for_buyers, in_price, in_price_and_units, for_single_minded)

// strong: sellers get all that buyers pay. weak: buyers may pay more, and the platform keeps the
// rest. deficit: sellers may get more than buyers pay.
SOUK_ENUM(BudgetBalance, strong, weak, deficit)

// How near the outcome is to the largest gain from trade, if all say the truth.
//   none                no bound
//   pareto              nobody can have more unless another has less; values do not count
//   within_factor       at least a fixed share of the largest gain
//   within_price        all deals across a price that comes from outside
//   in_large_markets    approaches the largest gain as the market grows
//   but_one_deal        at most the least valuable deal is lost, with one unit or one gang size
//   each if_truthful         the largest gain without gangs; but not everybody has reason to be
//   truthful full                the largest gain
SOUK_ENUM(Efficiency, none, pareto, within_factor, within_price, in_large_markets, but_one_deal,
          if_truthful, full)

// For whom trading under several names gains nothing: nobody, buyers without a gang, one who has
// names on one side only, or anybody, as far as one round goes.
SOUK_ENUM(SybilProofness, none, for_buyers, on_one_side, within_round)

// Whether an owner who wants more slots, in more units or further bids, can thereby pay more for
// those that it would have had anyway.
//   can_raise_price     its own orders can set its price
//   never_raises_price  its j-th cheapest slot never costs more, gangs of its own aside
SOUK_ENUM(OwnDemand, can_raise_price, never_raises_price)

// What is made as equal as possible.
//   none                nothing is
//   shares              the slots that owners get, as far as they want them
//   service             what slots do for each job; near_service: nearly so
//   time_to_finish      how much longer each takes than with an equal part for itself
SOUK_ENUM(Fairness, none, shares, service, near_service, time_to_finish)

// What it needs to know that the market measures: how fast each job runs on each slot, and how much
// each job has left to do.
SOUK_ENUM(Measurements, none, rates, rates_and_work)

// What is traded: alike slots of a class, or bundles of single goods.
SOUK_ENUM(Goods, slots, bundles)

struct Properties {
  bool individually_rational = true;  // Nobody loses by taking part.
  Truthfulness truthfulness = Truthfulness::none;
  BudgetBalance budget_balance = BudgetBalance::strong;
  Efficiency efficiency = Efficiency::none;
  SybilProofness sybil_proofness = SybilProofness::none;
  Fairness fairness = Fairness::none;
  Measurements measurements = Measurements::none;
  Goods goods = Goods::slots;
  bool sets_prices = true;  // Else slots change hands at the reserve, and prices decide nothing.
  bool gangs = true;        // Takes bids that want several slots or none.
  bool live = true;         // A market can run on it, with Parameter::suggested where there is one.
  OwnDemand own_demand = OwnDemand::can_raise_price;
};

}  // namespace souk::mechanism
