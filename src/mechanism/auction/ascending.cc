#include "mechanism/auction/ascending.h"

#include <algorithm>

#include "base/check.h"
#include "mechanism/auction/sides.h"

namespace souk::mechanism {
namespace {

// Who is still in while the clock runs. The worst trader of a side is at the back.
class Clock {
 public:
  explicit Clock(const Book& book)
      : book_(book), bids_(bids_by_limit(book)), asks_(asks_by_reserve(book)) {
    demand_ = total_units(bids_);
    supply_ = total_units(asks_);
    gone_.resize(book.bids.size());
    for (std::uint32_t i = 0; i < bids_.size(); ++i)
      if (least(book.bids[bids_[i].index]) > 1) gangs_.push_back(bids_[i].index);
    std::ranges::sort(gangs_, {}, [&](auto i) { return std::pair(book.bids[i].gang, i); });
    drop_gangs();
  }

  // Runs until the prices meet, or until one side is empty and there is no price.
  std::optional<Credits> run() {
    while (!bids_.empty() && !asks_.empty()) {
      if (demand_ >= supply_) {
        if (get_ && *get_ <= bids_.back().price) return get_;
        pay_ = bids_.back().price;
        demand_ -= bids_.back().units;
        bids_.pop_back();
      } else {
        if (pay_ && *pay_ >= asks_.back().price) return pay_;
        get_ = asks_.back().price;
        supply_ -= asks_.back().units;
        asks_.pop_back();
      }
      drop_gangs();
    }
    return std::nullopt;
  }

  // Those still in.
  [[nodiscard]] Lots bids() const {
    Lots in;
    for (const auto& bid : bids_)
      if (!gone_[bid.index]) in.push_back(bid);
    return in;
  }
  [[nodiscard]] const Lots& asks() const { return asks_; }

 private:
  // Removes the gangs that can no longer be whole, and keeps the worst bid still in at the back.
  void drop_gangs() {
    while (!gangs_.empty() && book_.bids[gangs_.back()].gang > supply_) {
      const auto i = gangs_.back();
      gangs_.pop_back();
      if (left_by_price(i)) continue;
      gone_[i] = true;
      demand_ -= book_.bids[i].units;
    }
    while (!bids_.empty() && gone_[bids_.back().index]) bids_.pop_back();
  }

  // Bids leave by price from the back; those before or at the back are in.
  [[nodiscard]] bool left_by_price(std::uint32_t i) const {
    if (bids_.empty()) return true;
    const auto worst = bids_.back();
    const auto limit = book_.bids[i].limit;
    return limit < worst.price || (limit == worst.price && i > worst.index);
  }

  const Book& book_;
  Lots bids_, asks_;
  std::vector<std::uint32_t> gangs_;  // By size, the largest at the back.
  std::vector<bool> gone_;            // Bids that left because of their gang.
  std::int64_t demand_ = 0, supply_ = 0;
  std::optional<Credits> pay_, get_;  // The clock's two prices, once anybody has left at them.
};

}  // namespace

Outcome Ascending::clear(const Book& book, base::Random& random) const {
  Clock clock(book);
  const auto price = clock.run();
  if (!price) return {};
  auto bids = bids_in_line(book, clock.bids());
  auto asks = asks_in_line(book, clock.asks());
  Outcome out{.price = price};
  const auto supply = total_units(asks);
  if (total_units(bids) > supply) {
    auto served = serve(book, drawn(bids, random), supply);
    out.lotteries.push_back(lottery(Side::buyers, bids, total_units(served)));
    bids = std::move(served);
  }
  const auto units = total_units(bids);
  CHECK(units > 0);  // Any gang still in fits when it is drawn first.
  if (units < supply) {
    out.lotteries.push_back(lottery(Side::sellers, asks, units));
    asks = drawn(std::move(asks), random);
  }
  out.trades = pair_up(bids, asks, *price, *price);
  return out;
}

}  // namespace souk::mechanism
