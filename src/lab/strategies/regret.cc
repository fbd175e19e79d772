#include "lab/strategies/regret.h"

#include <algorithm>
#include <limits>

namespace souk::lab {
namespace {

using mechanism::Book;
using mechanism::Mechanism;
using mechanism::Side;

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr int kDraws = 24;  // Of a mechanism that draws lots; half to choose by, half to measure.

double micro(Credits c) { return static_cast<double>(c.micro); }

// A trader and what it does: the true order, or another one, or one more under another name.
struct Bidder {
  Side side;
  std::uint32_t index;
  double value;  // In micro-credits.
  std::int32_t units;
};

// What the trader has in the end, with `fake_bid` and `fake_ask` among the book's orders (or past
// its end: none). Whoever sells what it does not have cannot deliver, and is ruled out.
double utility(const Bidder& who, const mechanism::Outcome& outcome, std::size_t fake_bid,
               std::size_t fake_ask) {
  double money = 0;
  std::int64_t bought = 0, sold = 0;
  const auto buys = [&](std::size_t i) {
    return i == fake_bid || (who.side == Side::buyers && i == who.index);
  };
  const auto sells = [&](std::size_t i) {
    return i == fake_ask || (who.side == Side::sellers && i == who.index);
  };
  for (const auto& t : outcome.trades) {
    if (buys(t.bid)) {
      bought += t.units;
      money -= micro(t.pays) * t.units;
    }
    if (sells(t.ask)) {
      sold += t.units;
      money += micro(t.gets) * t.units;
    }
  }
  for (const auto& fee : outcome.fees)
    if (fee.side == Side::buyers ? buys(fee.index) : sells(fee.index)) money -= micro(fee.amount);
  if (who.side == Side::buyers) {
    if (bought < sold) return kNever;
    return money +
           who.value * static_cast<double>(std::min<std::int64_t>(bought - sold, who.units));
  }
  if (sold - bought > who.units) return kNever;
  return money - who.value * static_cast<double>(std::max<std::int64_t>(sold - bought, 0));
}

class Exploration {
 public:
  Exploration(const Mechanism& rule, const Book& book, const RegretSearch& size, std::uint64_t seed,
              const std::stop_token& stop)
      : rule_(rule), book_(book), size_(size), seed_(seed), stop_(stop) {
    draws_ = rolls() ? kDraws : 2;
    for (const auto& b : book.bids) prices_.push_back(b.limit.micro);
    for (const auto& a : book.asks) prices_.push_back(a.reserve.micro);
    std::ranges::sort(prices_);
    prices_.erase(std::unique(prices_.begin(), prices_.end()), prices_.end());
  }

  Regret run() {
    auto traders = all();
    base::Random random(seed_);
    random.shuffle(traders);
    traders.resize(std::min<std::size_t>(traders.size(), static_cast<std::size_t>(size_.traders)));
    Regret out;
    for (const auto& who : traders) {
      if (stop_.stop_requested()) break;
      const auto candidates = prices_for(who);
      const auto honest = measured(who, book_, book_.bids.size(), book_.asks.size());
      out.price += best(honest, candidates, [&](std::int64_t p) { return other_price(who, p); });
      out.names += std::max(
          best(honest, candidates, [&](std::int64_t p) { return another(who, Side::buyers, p); }),
          best(honest, candidates, [&](std::int64_t p) { return another(who, Side::sellers, p); }));
      ++out.traders;
    }
    if (out.traders > 0) {
      out.price /= static_cast<double>(out.traders) * 1e6;
      out.names /= static_cast<double>(out.traders) * 1e6;
    }
    return out;
  }

 private:
  struct Means {
    double chosen_by = 0, measured_by = 0;
  };

  // Does the outcome depend on the draw?
  [[nodiscard]] bool rolls() const {
    base::Random first(stream(seed_, "lots", 0));
    const auto one = rule_.clear(book_, first);
    for (int i = 1; i < 6; ++i) {
      auto other = stream(seed_, "lots", static_cast<std::uint64_t>(i));
      if (rule_.clear(book_, other).trades != one.trades) return true;
    }
    return false;
  }

  [[nodiscard]] std::vector<Bidder> all() const {
    std::vector<Bidder> out;
    for (std::uint32_t i = 0; i < book_.bids.size(); ++i)
      out.push_back({Side::buyers, i, micro(book_.bids[i].limit), book_.bids[i].units});
    for (std::uint32_t i = 0; i < book_.asks.size(); ++i)
      out.push_back({Side::sellers, i, micro(book_.asks[i].reserve), book_.asks[i].units});
    return out;
  }

  // Just above and below what others said, because outcomes change there, and shares of the value.
  [[nodiscard]] std::vector<std::int64_t> prices_for(const Bidder& who) const {
    std::vector<std::int64_t> out;
    const auto half = static_cast<std::size_t>(std::max(1, size_.prices / 4));
    const auto step = std::max<std::size_t>(1, prices_.size() / half);
    for (std::size_t i = 0; i < prices_.size(); i += step) {
      out.push_back(prices_[i] + 1);
      out.push_back(std::max<std::int64_t>(0, prices_[i] - 1));
    }
    for (std::size_t i = 0; i < 2 * half; ++i)
      out.push_back(static_cast<std::int64_t>(who.value * static_cast<double>(i) /
                                              static_cast<double>(half)));
    return out;
  }

  [[nodiscard]] Means measured(const Bidder& who, const Book& book, std::size_t fake_bid,
                               std::size_t fake_ask) const {
    Means out;
    for (int d = 0; d < draws_ && !stop_.stop_requested(); ++d) {
      auto random = stream(seed_, "lots", static_cast<std::uint64_t>(d));
      const auto u = utility(who, rule_.clear(book, random), fake_bid, fake_ask);
      (d % 2 == 0 ? out.chosen_by : out.measured_by) += u / (draws_ / 2);
    }
    return out;
  }

  [[nodiscard]] Means other_price(const Bidder& who, std::int64_t price) const {
    auto book = book_;
    if (who.side == Side::buyers)
      book.bids[who.index].limit = Credits(price);
    else
      book.asks[who.index].reserve = Credits(price);
    return measured(who, book, book.bids.size(), book.asks.size());
  }

  [[nodiscard]] Means another(const Bidder& who, Side side, std::int64_t price) const {
    auto book = book_;
    if (side == Side::buyers)
      book.bids.push_back(
          {.id = ~std::uint64_t{0}, .limit = Credits(price), .owner = ~std::uint64_t{0}});
    else
      book.asks.push_back({.id = ~std::uint64_t{0}, .reserve = Credits(price)});
    return measured(who, book, book_.bids.size() + (side == Side::buyers ? 0 : 1),
                    book_.asks.size() + (side == Side::sellers ? 0 : 1));
  }

  template <class Try>
  double best(const Means& honest, const std::vector<std::int64_t>& candidates, Try&& attempt) {
    auto top = honest;
    for (const auto price : candidates) {
      if (stop_.stop_requested()) break;
      if (const auto m = attempt(price); m.chosen_by > top.chosen_by) top = m;
    }
    // Ruled out on a draw that it was not chosen by: no sensible lie.
    return top.measured_by == kNever ? 0 : top.measured_by - honest.measured_by;
  }

  const Mechanism& rule_;
  const Book& book_;
  const RegretSearch& size_;
  const std::uint64_t seed_;
  const std::stop_token& stop_;
  int draws_ = 2;
  std::vector<std::int64_t> prices_;
};

}  // namespace

Regret search_regret(const Mechanism& rule, const Book& book, const RegretSearch& search,
                     std::uint64_t seed, const std::stop_token& stop) {
  if (search.traders == 0 || search.prices == 0 || (book.bids.empty() && book.asks.empty()))
    return {};
  return Exploration(rule, book, search, seed, stop).run();
}

}  // namespace souk::lab
