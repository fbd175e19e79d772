#include "mechanism/auction/vickrey.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "mechanism/auction/sides.h"

namespace souk::mechanism {
namespace {

// What wins of one owner: places in Crossing::bids, highest limit first.
struct Winner {
  std::vector<std::size_t> lots;
  std::int64_t units = 0;
};

// Dense numbers for the owners of bids; a bid of owner 0 is its own.
class BidOwners {
 public:
  explicit BidOwners(const Book& book) : of_bid_(book.bids.size()) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> known;
    for (std::uint32_t i = 0; i < book.bids.size(); ++i)
      if (book.bids[i].owner != 0) known.emplace_back(book.bids[i].owner, i);
    std::ranges::sort(known);
    for (std::size_t i = 0; i < known.size(); ++i)
      of_bid_[known[i].second] =
          i > 0 && known[i].first == known[i - 1].first ? count_ - 1 : count_++;
    for (std::uint32_t i = 0; i < book.bids.size(); ++i)
      if (book.bids[i].owner == 0) of_bid_[i] = count_++;
  }
  [[nodiscard]] std::size_t of(std::uint32_t bid) const { return of_bid_[bid]; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::vector<std::size_t> of_bid_;
  std::size_t count_ = 0;
};

// What bids without a gang want and do not get, highest limit first.
Lots unserved(const Book& book, std::span<const Lot> winning) {
  std::vector<std::int32_t> got(book.bids.size());
  for (const auto& lot : winning) got[lot.index] = lot.units;
  auto out = bids_by_limit(book);
  std::erase_if(out, [&](Lot& lot) {
    lot.units -= got[lot.index];
    return lot.units == 0 || book.bids[lot.index].gang > 1;
  });
  return out;
}

// The last `units` of `asks`, cheapest first.
Lots last_units(std::span<const Lot> asks, std::int64_t units) {
  Lots out;
  for (auto at = asks.size(); units > 0;) {
    auto lot = asks[--at];
    lot.units = static_cast<std::int32_t>(std::min<std::int64_t>(lot.units, units));
    units -= lot.units;
    out.push_back(lot);
  }
  std::ranges::reverse(out);
  return out;
}

// What an owner pays whose units take the place of `asks`, cheapest first.
Lots prices_of(std::size_t owner, const BidOwners& owners, Lots asks, std::span<const Lot> losing) {
  Lots out;
  std::size_t at = 0;
  for (const auto& bid : losing) {
    if (owners.of(bid.index) == owner) continue;
    if (at == asks.size() || bid.price < asks[at].price) break;
    for (auto left = bid.units; left > 0 && at < asks.size() && bid.price >= asks[at].price;) {
      const auto n = std::min(left, asks[at].units);
      out.push_back({bid.price, 0, n});
      left -= n;
      if ((asks[at].units -= n) == 0) ++at;
    }
  }
  out.insert(out.end(), asks.begin() + static_cast<std::ptrdiff_t>(at), asks.end());
  std::ranges::sort(out, {}, &Lot::price);  // Which of equal ones is first says nothing.
  return out;
}

// Adds what each bid of one owner pays, the highest limit the least.
void add_payments(const Winner& winner, std::span<const Lot> bids, Lots prices, Lots& out) {
  std::size_t at = 0;
  for (const auto lot : winner.lots)
    for (auto left = bids[lot].units; left > 0;) {
      CHECK(at < prices.size());
      const auto n = std::min(left, prices[at].units);
      out.push_back({prices[at].price, bids[lot].index, n});
      left -= n;
      if ((prices[at].units -= n) == 0) ++at;
    }
}

// Cheapest payment to cheapest ask. Both ascending, with the same units.
std::vector<Trade> matched(std::span<const Lot> payments, std::span<const Lot> asks) {
  std::vector<Trade> trades;
  std::size_t at = 0;
  std::int32_t used = 0;
  for (const auto& payment : payments)
    for (auto left = payment.units; left > 0;) {
      CHECK(at < asks.size() && asks[at].price <= payment.price);
      const auto n = std::min(left, asks[at].units - used);
      trades.push_back({payment.index, asks[at].index, n, payment.price, payment.price});
      left -= n;
      used += n;
      if (used == asks[at].units) ++at, used = 0;
    }
  std::ranges::sort(trades, {}, [](const Trade& t) { return std::tuple(t.bid, t.ask, t.pays); });
  std::vector<Trade> out;
  for (const auto& t : trades)
    if (!out.empty() && out.back().bid == t.bid && out.back().ask == t.ask &&
        out.back().pays == t.pays)
      out.back().units += t.units;
    else
      out.push_back(t);
  return out;
}

Outcome cleared(const Book& book) {
  const auto crossing = cross(book);
  if (crossing.units == 0) return {};
  const auto traded = cut(crossing.asks, crossing.units).before;
  const auto losing = unserved(book, crossing.bids);
  const BidOwners owners(book);
  std::vector<Winner> winners(owners.count());
  for (std::size_t i = 0; i < crossing.bids.size(); ++i) {
    auto& winner = winners[owners.of(crossing.bids[i].index)];
    winner.lots.push_back(i);
    winner.units += crossing.bids[i].units;
  }
  Lots payments;
  for (std::size_t owner = 0; owner < winners.size(); ++owner)
    if (const auto& winner = winners[owner]; winner.units > 0)
      add_payments(winner, crossing.bids,
                   prices_of(owner, owners, last_units(traded, winner.units), losing), payments);
  std::ranges::sort(payments, {}, [](const Lot& l) { return std::pair(l.price, l.index); });
  Outcome out{.trades = matched(payments, traded), .benchmark = benchmark(crossing)};
  if (payments.front().price == payments.back().price) out.price = payments.front().price;
  return out;
}

}  // namespace

Vickrey::Vickrey(std::int64_t floor_ppm) : floor_ppm_(floor_ppm) {
  CHECK(floor_ppm >= 0 && floor_ppm <= 1'000'000);
}

Credits Vickrey::market_ask(Credits reference) const { return base::share(reference, floor_ppm_); }

Outcome Vickrey::clear(const Book& book, base::Random&) const {
  const auto floor = market_ask(book.reference);
  const auto at_market = [](const Ask& ask) { return ask.reserve == Credits(); };
  if (floor <= Credits() || std::ranges::none_of(book.asks, at_market)) return cleared(book);
  Book told{.bids = book.bids, .asks = book.asks, .reference = book.reference};
  for (auto& ask : told.asks)
    if (at_market(ask)) ask.reserve = floor;
  auto out = cleared(told);
  out.benchmark.reset();  // It is of another book.
  return out;
}

base::Result<std::unique_ptr<Mechanism>> make_vickrey(const base::Arguments& given) {
  return std::make_unique<Vickrey>(given.micro("floor"));
}

}  // namespace souk::mechanism
