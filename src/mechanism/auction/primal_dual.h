#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// An online price that rises with use: with `used` of `capacity` slots given away, a slot costs
// p = low x (high / low)^(used / capacity), rounded to the nearest micro-credit; it climbs from
// low, at which anybody serious is welcome, to high, which nobody should pay. Capacity is all the
// slots of asks with reserves up to high; others never trade. Bids are quoted p one after the
// other, in order of position, each for all its units at once, before they count as used. A bid
// takes the cheapest slots left, by (reserve, rank, position), each at the higher of its quote and
// the slot's reserve, as long as that is below its limit (the use is worth more than it costs); the
// seller gets what the buyer pays. A bid whose gang cannot be whole is passed over. Outcome::price
// is not set. Draws nothing.
//
// Individually rational; budget balanced. A buyer without a gang gains nothing by another limit or
// by splitting its bid among false names where it stands: no quote depends on its own limit, and a
// second quote is no lower than the first. Not incentive compatible for sellers: a lower reserve
// sells earlier, when prices are low. Not efficient; but without reserves, with limits within
// [e x low, high] and bids that are small against the capacity, the value served is at least
// 1 / ln(high / low) of the best in hindsight, whatever the order of arrival. One bid may take all
// at its quote: the mechanism trusts that bids are small.
class PrimalDual final : public Mechanism {
 public:
  // Without low and high, a quarter of the book's reference and four times as much: at half load
  // the price is the reference. Neither is ever below a micro-credit, nor high below low.
  explicit PrimalDual(std::optional<Credits> low = std::nullopt,
                      std::optional<Credits> high = std::nullopt)
      : low_(low), high_(high) {}
  Outcome clear(const Book& book, base::Random& random) const override;

 private:
  std::optional<Credits> low_, high_;
};

[[nodiscard]] base::Result<std::unique_ptr<Mechanism>> make_primal_dual(
    const base::Arguments& given);

}  // namespace souk::mechanism
