#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// Max-min fair shares, without prices: each slot goes to the owner who would then hold the fewest,
// and within an owner to the bid that would; ties go to the owner whose first bid stands earlier,
// and to the earlier bid. A gang takes its first `gang` slots at once, when it is its turn with all
// of them, or is left out. A slot changes hands at its ask's own reserve (own_reserve.h), so nobody
// is worse off. There is no uniform price. Draws nothing.
//
// Without gangs, and if each owner's bids have one limit, the shares of owners are max-min fair:
// nobody's could be larger but at the expense of one that is no larger, counting every slot that
// its limit accepts. (With several limits an owner's low bid may have a cheap slot that it could
// have left to others.) Always, no slot stays idle that anybody left wanting accepts.
//
// Individually rational; budget balanced. Where limits do not matter (all asks are "market"), an
// owner gains nothing by asking for more slots than it needs. Not incentive compatible in prices,
// on either side: sellers are paid what they ask, and the lowest limits get the cheapest slots. Not
// Sybil-proof: two names get two shares. Not efficient: values do not count.
//
// Slots are handed out one by one, or, with more than four million of them, in so many equal turns.
class MaxMin final : public Mechanism {
 public:
  Outcome clear(const Book& book, base::Random& random) const override;
};

}  // namespace souk::mechanism
