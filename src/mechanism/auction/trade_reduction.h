#pragma once

#include "mechanism/auction/sides.h"
#include "mechanism/mechanism.h"

namespace souk::mechanism {

// Trade reduction: the last bid and the last ask that could trade step out and set the prices. All
// better bids pay the marginal bid's limit b_k, all better asks get the marginal ask's reserve s_k,
// and the platform keeps the difference. With one unit each, that is one deal less than possible.
//
// The marginal orders step out with all their units (sides.h, Margin), so what is left of the two
// sides need not be equal. The longer one is then served in line, where no price has a say: bids by
// position, asks by (rank, position). A bid whose gang cannot be whole is passed over.
// Outcome::price is never set. Draws nothing.
//
// Individually rational; incentive compatible in prices on both sides, whatever the units and
// gangs: an order's own price only decides whether it stands before the margin, never what it pays
// there. Weakly budget balanced. Not incentive compatible in units: a marginal order that asks for
// less may no longer be marginal. Not Sybil-proof for the same reason. Not efficient: besides the
// marginal deal, an order as large as the whole other side steps out and leaves nobody to trade.
class TradeReduction final : public Mechanism {
 public:
  Outcome clear(const Book& book, base::Random& random) const override;
};

// The mechanism itself, for those that fall back on it.
[[nodiscard]] Outcome reduce(const Book& book, const Margin& margin);

}  // namespace souk::mechanism
