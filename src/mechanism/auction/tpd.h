#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// The threshold price double auction (Yokoo, Sakurai and Matsubara 2005). Bids of at least the
// threshold r and asks of at most r take part; r is a parameter, or else the book's reference. The
// shorter side trades all its units at r. The longer side competes for them: with one unit each,
// all its winners pay or get the price of its best loser, or r if there is none. The platform keeps
// the difference. With several units, an order pays or gets the prices of the units of others that
// it displaced (r where there are none), as the average per unit, rounded to the micro-credit in
// the platform's favour. Outcome::price is set where all trade at r. Draws nothing.
//
// Gangs do not compete. They get, in line and at r, what bids without a gang leave over; a gang
// that cannot be whole is passed over. So they bear on no other buyer.
//
// Individually rational; weakly budget balanced. Incentive compatible in price and in units;
// without a gang even for who appears under several names on its side. (A gang that calls itself
// none may be served sooner.) With several units, rounding leaves at most a micro-credit per unit
// to be gained. Efficient only as far as r is: deals across r are all that it finds. r must come
// from outside the round; a reference that follows past rounds can be moved by those who trade in
// many of them.
class Tpd final : public Mechanism {
 public:
  explicit Tpd(std::optional<Credits> threshold = std::nullopt) : threshold_(threshold) {}
  Outcome clear(const Book& book, base::Random& random) const override;

 private:
  std::optional<Credits> threshold_;
};

[[nodiscard]] base::Result<std::unique_ptr<Mechanism>> make_tpd(const base::Arguments& given);

}  // namespace souk::mechanism
