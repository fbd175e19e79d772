#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// A double auction in which a buyer's own orders never set its price: Vickrey's multi-unit prices
// for owners of bids, paid straight to the sellers (docs/decisions/0032).
//
// Who trades is decided as by k-double (sides.h): k units, the highest bids with the lowest asks
// s_1 <= ... <= s_k. An owner who gets m of them takes the place of others: without it the others
// would have W = k - m units, and the best of their bids that now lose would trade with s_{W+1},
// s_{W+2}... as long as they accept those. So the owner pays s_{W+1} ... s_k, of which the first n
// are replaced by the n losing bids of others that would have taken them. Of gangs only what they
// get counts: one that is passed over, or the rest of one, sets no price, as in k-double.
//
// What follows (proofs in the decision):
//  - An owner's j-th unit costs the same or less when it wants more units, adds bids or names
//  higher
//    limits, gangs of its own aside: others' orders alone set it.
//  - Each owner pays s_{k-m+1} ... s_k at least, so cheapest payment to cheapest ask every seller
//    gets its reserve, and gets all that its buyer pays. Nobody pays above its limit, because no
//    losing bid of others is above a winning one.
//  - Where each owner has one unit all pay max(s_k, b_{k+1}), which is k-double with kappa 0.
//  - Truth is best for buyers without a gang, who own one bid. Sellers can gain by asking for more.
//
// An ask without a reserve, "market", stands for `floor` of the book's reference: it would
// otherwise be given away wherever nobody competes for it.
//
// A bid whose owner is 0 is its own owner. Draws nothing. Linear in the size of the book but for
// sorting.
class Vickrey final : public Mechanism {
 public:
  // In millionths.
  explicit Vickrey(std::int64_t floor_ppm);
  Outcome clear(const Book& book, base::Random& random) const override;
  [[nodiscard]] Credits market_ask(Credits reference) const override;

 private:
  std::int64_t floor_ppm_;
};

[[nodiscard]] base::Result<std::unique_ptr<Mechanism>> make_vickrey(const base::Arguments& given);

}  // namespace souk::mechanism
