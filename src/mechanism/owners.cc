#include "mechanism/owners.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "mechanism/sides.h"

namespace souk::mechanism {

Owners::Owners(const Book& book) {
  CHECK(book.bids.size() <= std::numeric_limits<std::uint32_t>::max());
  struct Key {
    std::uint64_t owner;
    std::uint32_t bid;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys;
  keys.reserve(book.bids.size());
  for (std::uint32_t i = 0; i < book.bids.size(); ++i)
    if (const auto& bid = book.bids[i]; bid.units >= least(bid)) keys.push_back({bid.owner, i});
  std::ranges::sort(keys);
  bids_.reserve(keys.size());
  for (const auto& key : keys) {
    if (owners_.empty() || owners_.back().id != key.owner)
      owners_.push_back({key.owner, bids_.size()});
    ++owners_.back().count;
    bids_.push_back(key.bid);
  }
  std::ranges::sort(owners_, {}, [&](const Owner& o) { return bids_[o.first]; });
}

}  // namespace souk::mechanism
