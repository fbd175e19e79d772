#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// The strongly budget-balanced auction of Segal-Halevi, Hassidim and Aumann (2016): everybody
// trades at one price, and none of the money stays with the platform. Outcome::price is set when
// anything trades.
//
// first = buyers: p = min(b_k, s_{k+1}). At p = s_{k+1} all k deals are made. Otherwise the
// marginal buyer steps out, the others get all they want, and a lottery decides which of the k
// sellers do without: they sell in a drawn order until the demand is met.
// first = sellers: the mirror image, p = max(s_k, b_{k+1}), with a lottery among the buyers. In it
// a gang that cannot be whole is passed over.
//
// Orders of several units count whole (sides.h, Margin). Where the marginal two do not end
// together, the one that is cut steps out with all its units and sets the price, whoever is
// `first`, and the lottery is among the other side. The draw depends on who is in it, not on their
// prices, and is told in Outcome::lotteries.
//
// Individually rational; strongly budget balanced; incentive compatible in prices on both sides,
// whatever the units and gangs, for each draw, not just on average. Not incentive compatible in
// units, as in trade_reduction.h. Not Sybil-proof: more names in a lottery win more often. With one
// unit each at most one deal is lost, but not always the least valuable.
class Sbba final : public Mechanism {
 public:
  explicit Sbba(Side first = Side::buyers) : first_(first) {}
  Outcome clear(const Book& book, base::Random& random) const override;

 private:
  Side first_;
};

[[nodiscard]] base::Result<std::unique_ptr<Mechanism>> make_sbba(const base::Arguments& given);

}  // namespace souk::mechanism
