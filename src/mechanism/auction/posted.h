#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// A posted price p: the book's reference (the class's suggested price), or a fixed one. Bids with
// limit >= p are served first come, first served, by position alone; asks with reserve <= p serve
// them by (rank, position) alone. A bid whose gang cannot be whole is passed over and the next one
// tried. All trades are at exactly p. Outcome::price is set when anything trades. Draws nothing.
//
// Individually rational; budget balanced; incentive compatible in prices on both sides: a limit or
// reserve only says yes or no to p, and a more generous one brings nobody forward (that is why the
// highest bid does not go first). False names gain nothing within a round. Not efficient: a p off
// the mark leaves willing traders without a deal, and a queue may serve a low value before a high
// one. A reference that follows past rounds can be moved by those who trade in many of them.
class Posted final : public Mechanism {
 public:
  explicit Posted(std::optional<Credits> price = std::nullopt) : price_(price) {}
  Outcome clear(const Book& book, base::Random& random) const override;

 private:
  std::optional<Credits> price_;
};

[[nodiscard]] base::Result<std::unique_ptr<Mechanism>> make_posted(const base::Arguments& given);

}  // namespace souk::mechanism
