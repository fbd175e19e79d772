#include "mechanism/auction/posted.h"

#include <algorithm>

#include "mechanism/auction/sides.h"

namespace souk::mechanism {

Outcome Posted::clear(const Book& book, base::Random&) const {
  const auto price = price_.value_or(book.reference);
  const auto asks = asks_by_rank(book, price);
  auto free = total_units(asks);
  Lots served;
  for (std::size_t i = 0; i < book.bids.size() && free > 0; ++i) {
    const auto& bid = book.bids[i];
    if (bid.limit < price || bid.units < least(bid) || free < least(bid)) continue;
    const auto got = std::min<std::int64_t>(free, bid.units);
    served.push_back({price, static_cast<std::uint32_t>(i), static_cast<std::int32_t>(got)});
    free -= got;
  }
  if (served.empty()) return {};
  return {pair_up(served, asks, price, price), price};
}

base::Result<std::unique_ptr<Mechanism>> make_posted(const base::Arguments& given) {
  return std::make_unique<Posted>(given.price("price"));
}

}  // namespace souk::mechanism
