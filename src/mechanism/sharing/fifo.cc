#include "mechanism/sharing/fifo.h"

#include <algorithm>

#include "mechanism/sharing/cheapest.h"
#include "mechanism/sharing/own_reserve.h"

namespace souk::mechanism {

Outcome Fifo::clear(const Book& book, base::Random&) const {
  Cheapest slots(asks_by_reserve(book));
  Lots served;
  for (std::size_t i = 0; i < book.bids.size() && slots.taken() < slots.total(); ++i) {
    const auto& bid = book.bids[i];
    const auto got = std::min<std::int64_t>(bid.units, slots.left_up_to(bid.limit));
    if (got < least(bid)) continue;
    served.push_back({bid.limit, static_cast<std::uint32_t>(i), static_cast<std::int32_t>(got)});
    slots.take(got);
  }
  return {pair_up_at_reserve(book, served, slots.asks()), std::nullopt};
}

}  // namespace souk::mechanism
