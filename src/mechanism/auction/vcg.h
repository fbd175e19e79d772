#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// The two-sided Vickrey-Clarke-Groves mechanism: the units go where they are worth most, and each
// trader pays what its presence costs the others, or gets what it brings them. With one unit each,
// all buyers pay lo and all sellers get hi, where [lo, hi] is the interval of k_double.h. A buyer
// of x units pays the x highest prices among the units that it displaced: bids of others that did
// not trade, and asks that did. A seller of y units gets the y lowest among bids that traded and
// asks of others that did not.
//
// Such a sum is charged as the average price per unit, to the micro-credit in the trader's favour.
// What that leaves open, less than one micro-credit per unit, is in Outcome::fees, so the sums are
// exact. Outcome::price is never set. Draws nothing.
//
// Individually rational; incentive compatible in price and in units; efficient. It runs a deficit,
// of k (hi - lo) with one unit each, so no market can run on it: it is the yardstick in the lab.
// Several names on one side gain nothing; a bid and an ask of one owner can live off the deficit.
// Takes no gangs: who should get the units would then be a knapsack problem, and an approximate
// answer gives reasons to lie.
class Vcg final : public Mechanism {
 public:
  Outcome clear(const Book& book, base::Random& random) const override;
  base::Result<> accepts(const Book& book) const override;
  base::Result<> fit_for_live() const override;
};

}  // namespace souk::mechanism
