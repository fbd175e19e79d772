#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// The multi-unit double auction of Huang, Scheller-Wolf and Sycara (2002): as in trade_reduction.h
// the marginal bid and ask step out with all their units and set the two prices. What the longer
// side then has too much is taken off its traders in equal parts, nobody below zero: who has less
// than its part loses all of it, and the others share the rest again. Parts are whole units; odd
// ones are taken off those last in line, by position for bids and by (rank, position) for asks.
//
// A bid left with less than its gang gets nothing, and what it would have got goes to the others
// again. If there is then more than they want, the gangs that got nothing are served in line with
// what remains. Outcome::price is never set. Draws nothing.
//
// Individually rational; incentive compatible in prices on both sides, whatever the units and
// gangs; weakly budget balanced. Not incentive compatible in units: of a longer side's equal loss,
// who wants more loses a smaller share. Not Sybil-proof. Not efficient, as trade reduction.
class Huang final : public Mechanism {
 public:
  Outcome clear(const Book& book, base::Random& random) const override;
};

}  // namespace souk::mechanism
