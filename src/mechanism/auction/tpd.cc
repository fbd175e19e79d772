#include "mechanism/auction/tpd.h"

#include <algorithm>

#include "mechanism/auction/sides.h"

namespace souk::mechanism {
namespace {

// The first `units` units of `lots`, best price first, at what their orders displace.
Lots win(Side side, std::span<const Lot> lots, std::int64_t units, Credits threshold) {
  auto [won, lost] = cut(lots, units);
  if (won.empty()) return won;
  // Only the last winner may be among the losers too, and it does not displace itself.
  const auto last = won.back();
  const auto last_sum = Displaced(without(lost, last.index)).sum(last.units, threshold);
  const Displaced losers(std::move(lost));
  for (auto& lot : won) {
    const auto sum = lot.index == last.index ? last_sum : losers.sum(lot.units, threshold);
    lot.price = side == Side::buyers ? average_up(sum, lot.units) : average_down(sum, lot.units);
  }
  return won;
}

}  // namespace

Outcome Tpd::clear(const Book& book, base::Random&) const {
  const auto threshold = threshold_.value_or(book.reference);
  auto asks = asks_by_reserve(book);
  std::erase_if(asks, [&](const Lot& ask) { return ask.price > threshold; });
  Lots bids, gangs;
  for (const auto& bid : bids_by_limit(book))
    if (bid.price >= threshold) (least(book.bids[bid.index]) > 1 ? gangs : bids).push_back(bid);

  const auto offered = total_units(asks);
  auto buyers = win(Side::buyers, bids, offered, threshold);
  for (const auto& gang : serve(book, bids_in_line(book, gangs), offered - total_units(buyers)))
    buyers.push_back({threshold, gang.index, gang.units});
  const auto sellers = win(Side::sellers, asks, total_units(buyers), threshold);
  Outcome out{pair_up(buyers, sellers)};
  const auto at_threshold = [&](const Trade& t) {
    return t.pays == threshold && t.gets == threshold;
  };
  if (!out.trades.empty() && std::ranges::all_of(out.trades, at_threshold)) out.price = threshold;
  return out;
}

base::Result<std::unique_ptr<Mechanism>> make_tpd(const base::Arguments& given) {
  return std::make_unique<Tpd>(given.price("r"));
}

}  // namespace souk::mechanism
