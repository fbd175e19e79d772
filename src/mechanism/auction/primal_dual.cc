#include "mechanism/auction/primal_dual.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "mechanism/auction/power.h"
#include "mechanism/sharing/cheapest.h"
#include "mechanism/sharing/own_reserve.h"

namespace souk::mechanism {
namespace {

constexpr Credits kLeast{1};

class Curve {
 public:
  Curve(Credits low, Credits high, std::int64_t capacity) : low_(low), capacity_(capacity) {
    CHECK(low >= kLeast && high >= low);
    climb_ = log2_of(static_cast<std::uint64_t>(high.micro)) -
             log2_of(static_cast<std::uint64_t>(low.micro));
  }

  // Requires 0 <= used <= capacity and a capacity above zero.
  [[nodiscard]] Credits at(std::int64_t used) const {
    const auto log = static_cast<Log2>(static_cast<__int128>(climb_) * used / capacity_);
    return Credits(
        static_cast<std::int64_t>(times_exp2(static_cast<std::uint64_t>(low_.micro), log)));
  }

 private:
  Credits low_;
  std::int64_t capacity_;
  Log2 climb_ = 0;
};

}  // namespace

Outcome PrimalDual::clear(const Book& book, base::Random&) const {
  // A fixed end keeps a derived one on its side.
  const auto reference = std::clamp(book.reference, Credits(), base::kMostCredits);
  const Credits quarter(reference.micro / 4),
      fourfold(std::min(reference.micro * 4, base::kMostCredits.micro));
  auto low = std::max(kLeast, low_.value_or(high_ ? std::min(quarter, *high_) : quarter));
  const auto high = std::max(low, high_.value_or(fourfold));

  auto asks = asks_by_reserve(book);
  while (!asks.empty() && asks.back().price > high) asks.pop_back();
  Cheapest slots(std::move(asks));
  const Curve curve(low, high, slots.total());
  Lots served;
  std::vector<Credits> quotes(book.bids.size());
  std::optional<Credits> quote;  // Until somebody takes something.
  for (std::size_t i = 0; i < book.bids.size() && slots.taken() < slots.total(); ++i) {
    const auto& bid = book.bids[i];
    if (!quote) quote = curve.at(slots.taken());
    if (bid.limit <= *quote) continue;
    const auto got = std::min<std::int64_t>(bid.units, slots.left_up_to(bid.limit - Credits(1)));
    if (got < least(bid)) continue;
    served.push_back({*quote, static_cast<std::uint32_t>(i), static_cast<std::int32_t>(got)});
    quotes[i] = *quote;
    slots.take(got);
    quote.reset();
  }
  auto trades = pair_up_at_reserve(book, served, slots.asks());
  for (auto& t : trades) t.pays = t.gets = std::max(quotes[t.bid], t.gets);
  return {std::move(trades), std::nullopt};
}

base::Result<std::unique_ptr<Mechanism>> make_primal_dual(const base::Arguments& given) {
  const auto low = given.price("low"), high = given.price("high");
  if (low && high && *high < *low)
    return base::fail(base::Code::invalid,
                      fmt::format("high is '{}', less than low", to_string(*high)),
                      fmt::format("write at least {}", to_string(*low)), "high");
  return std::make_unique<PrimalDual>(low, high);
}

}  // namespace souk::mechanism
