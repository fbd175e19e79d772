#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// A clock auction for buyers who need several sellers each. All prices are per slot; the buyers'
// rises from below every limit, the sellers' falls from above every reserve, and all who would
// trade at their side's price stay in. The clock always moves on the side with more units, the
// buyers' if both have the same, until its worst trader leaves: the lowest limit, among equals the
// later bid; or the highest reserve, among equals the higher (rank, position). A gang that is
// larger than what the sellers still in offer leaves at once. When the two prices meet, those still
// in trade at that one price; where one side has more units than the other takes, a lottery draws
// who trades: in the order drawn each trades all it can, gangs that no longer fit are passed over.
// Outcome::price is set when anything trades, and Outcome::lotteries tells of the draws.
//
// Gangs of different sizes and single units share the clock: sides are compared in units. With
// gangs all of one size this is the ascending auction for one-to-many matching, and without gangs a
// strongly budget-balanced trade reduction. Draws only for lotteries.
//
// Individually rational; strong budget balance; incentive compatible in prices on both sides,
// whatever the draw: a limit or reserve only says when to leave, and who leaves later than is true
// can only trade at a loss. Not so in units: wanting less can move the clock. Not Sybil-proof for
// the same reason. Loses the trader or two who set the price, hence small books, or books with one
// large gang at the top, may not trade at all; with single units at most one deal is lost.
class Ascending final : public Mechanism {
 public:
  Outcome clear(const Book& book, base::Random& random) const override;
};

}  // namespace souk::mechanism
