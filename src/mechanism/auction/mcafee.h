#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// McAfee's double auction (1992). p = (b_{k+1} + s_{k+1}) / 2, rounded down to the micro-credit, is
// a price that nobody who trades has named. If both marginal orders accept it, s_k <= p <= b_k, all
// k deals are made at p, and Outcome::price is set. If not, or if there is no b_{k+1} or s_{k+1},
// the marginal orders step out as in trade_reduction.h. Draws nothing.
//
// Orders of several units count whole (sides.h, Margin): b_{k+1} and s_{k+1} are the best orders
// without any unit among the first k. p is used only if the marginal two end together, so that
// everybody has all its units; were one of them cut, its owner could name a price that makes p
// better. A hopeless gang never trades, but may be b_{k+1}; if it is not below s_{k+1}, p is not
// used.
//
// Individually rational; incentive compatible in prices on both sides, whatever the units and
// gangs; weakly budget balanced (balanced at p); with one unit each at most the least valuable deal
// is lost. Not incentive compatible in units and not Sybil-proof, as in trade_reduction.h.
class McAfee final : public Mechanism {
 public:
  Outcome clear(const Book& book, base::Random& random) const override;
};

}  // namespace souk::mechanism
