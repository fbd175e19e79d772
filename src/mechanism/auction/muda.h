#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// MUDA, the multi-unit double auction of Segal-Halevi, Hassidim and Aumann (2018). The book is
// split in two halves, each order by the toss of a coin, unless the split is given
// (Book::bid_halves, ask_halves). Each half trades at the other's price, which nobody in it has a
// say in. A half's price is (b_k + s_k) / 2 of its own marginal units, rounded down to the
// micro-credit; where nothing crosses it lies halfway between the best bid and the best ask; a half
// that lacks a side has no price, and the other does not trade. Hopeless gangs (sides.h, Margin)
// set no price.
//
// In each half the shorter side trades all it wants at the price. The longer side's units are
// chosen
//  - long = vickrey: by price, best first. Each winner pays a fee for the units of others that it
//    displaced: what these would have gained at the price. Exact, in Outcome::fees. Where gangs are
//    among buyers in excess, choosing well is a knapsack problem, and there is a lottery instead.
//  - long = lottery: in a drawn order, each with all its units, gangs passed over if they cannot be
//    whole. Told in Outcome::lotteries. The draw depends on who is in it, not on their prices.
// Outcome::price is never set, as there are two.
//
// Individually rational. Incentive compatible in price and, gangs aside, in units, for each draw,
// not just on average. Strongly budget balanced with lotteries; with fees, the platform keeps
// these. The gain from trade approaches the largest possible as the market grows, faster with fees.
// Not Sybil-proof: more names in a lottery win more often, and names in both halves can set prices.
class Muda final : public Mechanism {
 public:
  enum class Long : std::uint8_t { vickrey, lottery };
  explicit Muda(Long longer = Long::vickrey) : long_(longer) {}
  Outcome clear(const Book& book, base::Random& random) const override;
  base::Result<> accepts(const Book& book) const override;
  // Not with fees: lump sums cannot be settled with leases.
  base::Result<> fit_for_live() const override;

 private:
  Long long_;
};

[[nodiscard]] base::Result<std::unique_ptr<Mechanism>> make_muda(const base::Arguments& given);

}  // namespace souk::mechanism
