#include "mechanism/sharing/own_reserve.h"

#include <algorithm>

#include "base/check.h"

namespace souk::mechanism {

std::vector<Trade> pair_up_at_reserve(const Book& book, std::span<const Lot> bids,
                                      std::span<const Lot> asks) {
  // Where each bid's slots begin: `used` units into asks[at]. Then trades can be listed by position
  // without sorting them.
  struct Start {
    std::uint32_t at = 0;
    std::int32_t used = 0, units = 0;
  };
  std::vector<Start> starts(book.bids.size());
  Start next;
  const auto advance = [&](Start& s, std::int32_t units) {
    CHECK(s.at < asks.size());
    const auto n = std::min(units, asks[s.at].units - s.used);
    s.used += n;
    if (s.used == asks[s.at].units) s = {s.at + 1, 0, s.units};
    return n;
  };
  for (const auto& bid : bids) {
    starts[bid.index] = {next.at, next.used, bid.units};
    for (auto left = bid.units; left > 0;) left -= advance(next, left);
  }
  std::vector<Trade> trades;
  trades.reserve(bids.size());
  for (std::uint32_t i = 0; i < starts.size(); ++i) {
    const auto first = static_cast<std::ptrdiff_t>(trades.size());
    for (auto s = starts[i]; s.units > 0;) {
      const auto& ask = asks[s.at];
      const auto units = advance(s, s.units);
      s.units -= units;
      trades.push_back({i, ask.index, units, ask.price, ask.price});
    }
    std::sort(trades.begin() + first, trades.end(),
              [](const Trade& a, const Trade& b) { return a.ask < b.ask; });
  }
  return trades;
}

Lots bids_lowest_first(const Book& book) {
  auto lots = bids_by_limit(book);
  std::ranges::reverse(lots);
  for (auto first = lots.begin(); first != lots.end();) {  // Equal limits keep their order.
    const auto end =
        std::find_if(first, lots.end(), [&](const Lot& lot) { return lot.price != first->price; });
    std::reverse(first, end);
    first = end;
  }
  return lots;
}

std::vector<std::int64_t> within_limits(const Book& book, std::span<const Lot> lowest_first,
                                        std::span<const Lot> asks) {
  std::vector<std::int64_t> out(book.bids.size());
  std::int64_t supply = 0;
  std::size_t at = 0;
  for (const auto& bid : lowest_first) {
    for (; at < asks.size() && asks[at].price <= bid.price; ++at) supply += asks[at].units;
    out[bid.index] = supply;
  }
  return out;
}

Lots serve_lowest_first(const Book& book, std::span<const Lot> lowest_first,
                        std::span<const Lot> asks, std::span<const std::int64_t> wanted) {
  Lots served;
  std::int64_t left = 0;  // Of the slots that the current limit accepts.
  std::size_t at = 0;
  for (const auto& bid : lowest_first) {
    for (; at < asks.size() && asks[at].price <= bid.price; ++at) left += asks[at].units;
    const auto got = std::min(left, wanted[bid.index]);
    if (got < least(book.bids[bid.index])) continue;
    served.push_back({bid.price, bid.index, static_cast<std::int32_t>(got)});
    left -= got;
  }
  return served;
}

OwnReserve::OwnReserve(const Book& book)
    : book_(&book),
      bids_(bids_lowest_first(book)),
      asks_(asks_by_reserve(book)),
      accepts_(book.bids.size()),
      given_(book.bids.size()) {
  reserves_.push_back({});
  std::size_t at = 0;
  for (const auto& bid : bids_) {
    while (at < asks_.size() && asks_[at].price <= bid.price) {
      const auto price = asks_[at].price;
      std::int64_t units = 0;
      for (; at < asks_.size() && asks_[at].price == price; ++at) units += asks_[at].units;
      reserves_.push_back({units, static_cast<std::uint32_t>(reserves_.size())});
    }
    accepts_[bid.index] = static_cast<std::uint32_t>(reserves_.size() - 1);
  }
}

std::uint32_t OwnReserve::dearest(std::uint32_t from) {
  // Halves the way on each visit, so that the next one is short.
  while (reserves_[from].below != from)
    from = reserves_[from].below = reserves_[reserves_[from].below].below;
  return from;
}

std::int64_t OwnReserve::room(std::size_t bid, std::int64_t enough) {
  auto at = dearest(accepts_[bid]);
  auto found = reserves_[at].free;
  while (found < enough && at > 0) {
    at = dearest(at - 1);
    found += reserves_[at].free;
  }
  return std::min(found, enough);
}

std::int64_t OwnReserve::give(std::size_t bid, std::int64_t least, std::int64_t most) {
  CHECK(0 < least && least <= most && given_[bid] + most <= book_->bids[bid].units);
  if (room(bid, least) < least) return 0;
  std::int64_t got = 0;
  auto at = dearest(accepts_[bid]);
  while (true) {
    const auto units = std::min(most - got, reserves_[at].free);
    got += units;
    reserves_[at].free -= units;
    if (reserves_[at].free == 0 && at > 0) reserves_[at].below = at - 1;
    if (got == most || at == 0) break;
    at = dearest(at - 1);
  }
  given_[bid] += got;
  return got;
}

std::vector<Trade> OwnReserve::trades() const {
  return pair_up_at_reserve(*book_, serve_lowest_first(*book_, bids_, asks_, given_), asks_);
}

}  // namespace souk::mechanism
