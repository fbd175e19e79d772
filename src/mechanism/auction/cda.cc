#include "mechanism/auction/cda.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "mechanism/auction/sides.h"

namespace souk::mechanism {
namespace {

// Units at rest by place in the order of asks, so that a gang can be told in logarithmic time
// whether there is enough for it. Kept only for books with gangs.
class PrefixSums {
 public:
  explicit PrefixSums(std::size_t size) : sums_(size + 1) {}
  void add(std::size_t place, std::int64_t units) {
    for (auto i = place + 1; i < sums_.size(); i += i & (0 - i)) sums_[i] += units;
  }
  // Of the first `places` places.
  [[nodiscard]] std::int64_t first(std::size_t places) const {
    std::int64_t sum = 0;
    for (auto i = places; i > 0; i -= i & (0 - i)) sum += sums_[i];
    return sum;
  }

 private:
  std::vector<std::int64_t> sums_;
};

// The orders at rest. An order is known by its place among its own side, best first, so that the
// best at rest is the lowest number. Lot::units is what is left of it.
class Floor {
 public:
  explicit Floor(const Book& book)
      : book_(book),
        bids_(bids_by_limit(book)),
        asks_(asks_by_reserve(book)),
        bid_places_(places(bids_, book.bids.size())),
        ask_places_(places(asks_, book.asks.size())) {
    for (const auto& bid : bids_)
      if (least(book.bids[bid.index]) > 1) {
        counts_.emplace(asks_.size());
        break;
      }
  }

  void bid_arrives(std::size_t index) {
    const auto place = bid_places_[index];
    if (place == kNowhere) return;
    auto& bid = bids_[place];
    const auto needs = least(book_.bids[index]);
    if (needs > 1 && at_rest_up_to(bid.price) < needs) {
      waiting_.push_back(place);
      return;
    }
    buy(bid);
    if (bid.units > 0) resting_bids_.push(place);
  }

  void ask_arrives(std::size_t index) {
    const auto place = ask_places_[index];
    if (place == kNowhere) return;
    auto& ask = asks_[place];
    while (ask.units > 0 && !resting_bids_.empty()) {
      auto& bid = bids_[resting_bids_.top()];
      if (bid.price < ask.price) break;
      trade(bid, ask, bid.price);
      if (bid.units == 0) resting_bids_.pop();
    }
    if (ask.units == 0) return;
    resting_asks_.push(place);
    if (counts_) counts_->add(place, ask.units);
  }

  // The last chance of the gangs that wait aside.
  void close() {
    for (const auto place : waiting_)
      if (auto& bid = bids_[place]; at_rest_up_to(bid.price) >= least(book_.bids[bid.index]))
        buy(bid);
  }

  // In the order that Outcome wants.
  std::vector<Trade> trades() && {
    std::ranges::sort(trades_, {}, [](const Trade& t) { return std::pair(t.bid, t.ask); });
    return std::move(trades_);
  }

 private:
  using Resting = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
  static constexpr auto kNowhere = static_cast<std::uint32_t>(-1);  // It can never trade.

  static std::vector<std::uint32_t> places(const Lots& lots, std::size_t orders) {
    std::vector<std::uint32_t> out(orders, kNowhere);
    for (std::uint32_t i = 0; i < lots.size(); ++i) out[lots[i].index] = i;
    return out;
  }

  [[nodiscard]] std::int64_t at_rest_up_to(Credits price) const {
    const auto beyond = std::ranges::upper_bound(asks_, price, {}, &Lot::price);
    return counts_->first(static_cast<std::size_t>(beyond - asks_.begin()));
  }

  // `bid` takes what crosses it, at the prices of the asks at rest.
  void buy(Lot& bid) {
    while (bid.units > 0 && !resting_asks_.empty()) {
      const auto place = resting_asks_.top();
      auto& ask = asks_[place];
      if (ask.price > bid.price) break;
      const auto units = trade(bid, ask, ask.price);
      if (counts_) counts_->add(place, -units);
      if (ask.units == 0) resting_asks_.pop();
    }
  }

  std::int32_t trade(Lot& bid, Lot& ask, Credits price) {
    const auto units = std::min(bid.units, ask.units);
    trades_.push_back({bid.index, ask.index, units, price, price});
    bid.units -= units;
    ask.units -= units;
    return units;
  }

  const Book& book_;
  Lots bids_, asks_;
  std::vector<std::uint32_t> bid_places_, ask_places_;
  Resting resting_bids_, resting_asks_;
  std::vector<std::uint32_t> waiting_;
  std::optional<PrefixSums> counts_;
  std::vector<Trade> trades_;
};

}  // namespace

Outcome Cda::clear(const Book& book, base::Random& random) const {
  Floor floor(book);
  std::size_t bid = 0, ask = 0;
  while (bid < book.bids.size() || ask < book.asks.size()) {
    const auto bids_left = book.bids.size() - bid, asks_left = book.asks.size() - ask;
    if (random.below(bids_left + asks_left) < bids_left)
      floor.bid_arrives(bid++);
    else
      floor.ask_arrives(ask++);
  }
  floor.close();
  return {std::move(floor).trades(), std::nullopt};
}

}  // namespace souk::mechanism
