#include "mechanism/auction/huang.h"

#include <algorithm>
#include <ranges>

#include "base/check.h"
#include "mechanism/auction/sides.h"

namespace souk::mechanism {
namespace {

// What everybody can lose in full: `part` units each, or all if it has less, and one more unit each
// for `odd` of those that have more.
struct Burden {
  std::int64_t part = 0, odd = 0;
};

Burden equal_parts(const Lots& lots, std::int64_t excess) {
  std::vector<std::int32_t> sizes;
  sizes.reserve(lots.size());
  for (const auto& lot : lots) sizes.push_back(lot.units);
  std::ranges::sort(sizes);
  auto bearers = static_cast<std::int64_t>(sizes.size());
  for (const auto size : sizes) {
    if (size * bearers > excess) return {excess / bearers, excess % bearers};
    excess -= size;
    --bearers;
  }
  CHECK(excess == 0);  // Nobody is asked for more than all they have.
  return {sizes.empty() ? 0 : sizes.back(), 0};
}

// Takes what is above `units` off `lots`. May leave lots without units.
Lots shortened(Lots lots, std::int64_t units) {
  const auto excess = total_units(lots) - units;
  if (excess <= 0) return lots;
  auto [part, odd] = equal_parts(lots, excess);
  for (auto& lot : std::views::reverse(lots)) {
    const auto extra = lot.units > part && odd > 0 ? 1 : 0;
    odd -= extra;
    lot.units -= static_cast<std::int32_t>(std::min<std::int64_t>(lot.units, part + extra));
  }
  return lots;
}

// What each of `bids`, in line, gets of `units`.
Lots share(const Book& book, const Lots& bids, std::int64_t units) {
  const auto parts = shortened(bids, units);
  Lots whole, broken;
  for (std::size_t i = 0; i < bids.size(); ++i) {
    const auto& bid = book.bids[bids[i].index];
    (bid.gang > 1 && parts[i].units < bid.gang ? broken : whole).push_back(bids[i]);
  }
  auto out = shortened(std::move(whole), units);
  const auto rest = serve(book, broken, units - total_units(out));
  out.insert(out.end(), rest.begin(), rest.end());
  std::erase_if(out, [](const Lot& lot) { return lot.units == 0; });
  return out;
}

}  // namespace

Outcome Huang::clear(const Book& book, base::Random&) const {
  auto m = margin(book);
  if (m.bids.size() < 2 || m.asks.size() < 2) return {};
  const auto pays = m.bids.back().price, gets = m.asks.back().price;
  m.bids.pop_back();
  m.asks.pop_back();
  auto sellers = asks_in_line(book, m.asks);
  const auto buyers = share(book, bids_in_line(book, m.bids), total_units(sellers));
  sellers = shortened(std::move(sellers), total_units(buyers));
  std::erase_if(sellers, [](const Lot& lot) { return lot.units == 0; });
  return {pair_up(buyers, sellers, pays, gets)};
}

}  // namespace souk::mechanism
