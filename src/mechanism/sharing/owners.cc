#include "mechanism/sharing/owners.h"

#include <array>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "mechanism/auction/sides.h"

namespace souk::mechanism {
namespace {

struct OwnerKey {
  std::uint64_t owner = 0;
  std::uint32_t bid = 0;
};

// Stable radix sort by owner, least digit first. Skips the digits that all keys share: ids are
// counted up, so two or three of six remain.
void sort_by_owner(std::vector<OwnerKey>& keys) {
  constexpr unsigned kBits = 11;
  std::uint64_t varying = 0;
  for (const auto& k : keys) varying |= k.owner ^ keys.front().owner;
  std::vector<OwnerKey> spare(keys.size());
  for (unsigned shift = 0; shift < 64; shift += kBits) {
    const auto digit = [&](std::uint64_t x) { return x >> shift & ((1u << kBits) - 1); };
    if (digit(varying) == 0) continue;
    std::array<std::uint32_t, 1u << kBits> place{};
    for (const auto& k : keys) ++place[digit(k.owner)];
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::uint32_t{0});
    for (const auto& k : keys) spare[place[digit(k.owner)]++] = k;
    keys.swap(spare);
  }
}

}  // namespace

Owners::Owners(const Book& book) {
  CHECK(book.bids.size() <= std::numeric_limits<std::uint32_t>::max());
  std::vector<OwnerKey> keys;
  keys.reserve(book.bids.size());
  for (std::uint32_t i = 0; i < book.bids.size(); ++i)
    if (const auto& bid = book.bids[i]; bid.units >= least(bid)) keys.push_back({bid.owner, i});
  sort_by_owner(keys);
  bids_.reserve(keys.size());
  for (const auto& key : keys) {
    if (owners_.empty() || owners_.back().id != key.owner)
      owners_.push_back({key.owner, bids_.size()});
    ++owners_.back().count;
    bids_.push_back(key.bid);
  }
}

}  // namespace souk::mechanism
