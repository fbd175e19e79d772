#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// First come, first served, without prices: bids in order of position take the cheapest slots left,
// by (reserve, rank, position), as far as their limit accepts them. A slot changes hands at its
// ask's own reserve (zero for "market"), so nobody is worse off. A bid whose gang cannot be whole
// is passed over and the next one tried. There is no uniform price. Draws nothing.
//
// Individually rational; budget balanced. A buyer without a gang gains nothing by another limit or
// by splitting its bid among false names where it stands: what it is offered does not depend on
// what it says. (A gang may say a higher limit than the truth to be whole at a tolerable average.)
// Not incentive compatible for sellers, who are paid what they ask. Not efficient: a low value may
// come before a high one. The baseline that other mechanisms are measured against.
class Fifo final : public Mechanism {
 public:
  Outcome clear(const Book& book, base::Random& random) const override;
};

}  // namespace souk::mechanism
