#include "market/prices.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace souk::market {
namespace {

constexpr std::int64_t kOne = 1'000'000;  // Shares are in millionths.
constexpr std::int64_t kUsual = 700'000;  // The use of supply at which a price stays.

std::int64_t hour_of(Time t) { return t.us / base::hours(1).us; }
int hour_of_day(std::int64_t hour) { return static_cast<int>(hour % 24); }

// Is `hour` at `wanted` o'clock, or the hour before or after?
bool near(std::int64_t hour, int wanted) {
  const int d = (hour_of_day(hour) - wanted + 24) % 24;
  return d <= 1 || d == 23;
}

struct Mean {
  __int128 sum = 0;
  std::int64_t slots = 0;

  void add(const HourBucket& b) {
    sum += b.sums().value;
    slots += b.sums().slots;
  }
  [[nodiscard]] std::optional<Credits> value() const {
    if (slots == 0) return std::nullopt;
    return Credits(static_cast<std::int64_t>(sum / slots));
  }
};

// The smallest price with at least `ppm` of the volume at or below it.
Credits quantile(const std::map<Credits, std::int64_t>& prices, std::int64_t volume,
                 std::int64_t ppm) {
  const auto target = std::max<std::int64_t>(1, (volume * ppm + kOne - 1) / kOne);
  std::int64_t seen = 0;
  for (const auto& [price, slots] : prices)
    if ((seen += slots) >= target) return price;
  CHECK(false);
}

void add_price(std::map<Credits, std::int64_t>& prices, Credits price, std::int64_t slots) {
  auto it = prices.lower_bound(price);
  // Full: count it at the nearest known price above, or the highest.
  if (prices.size() >= kPricesPerHour && (it == prices.end() || it->first != price))
    price = it == prices.end() ? prices.rbegin()->first : it->first;
  prices[price] += slots;
}

}  // namespace

Credits step_towards(Credits from, Credits price) {
  const auto step =
      static_cast<std::int64_t>(static_cast<__int128>(from.micro) * kMostChangePpm / kOne);
  return std::clamp(price, Credits(from.micro - step), Credits(from.micro + step));
}

void PriceHistory::paid(Time at, const OwnerPair& pair, Credits price, std::int64_t slots) {
  pairs_.note(at, pair, price);
  if (slots > 0 && pairs_.counts(pair.borrower))
    bucket(at).count(step_towards(*pairs_.rate(), price), slots);
}

HourBucket& PriceHistory::bucket(Time at) {
  const auto hour = hour_of(at);
  if (hours_.empty() || hours_.back().hour < hour) hours_.push_back({.hour = hour});
  return hours_.back();  // Time never runs backwards in the core.
}

const HourSums& HourBucket::sums() const {
  if (known_sums) return *known_sums;
  known_sums.emplace();
  for (const auto& [price, n] : counted) {
    known_sums->value += static_cast<__int128>(price.micro) * n;
    known_sums->slots += n;
  }
  return *known_sums;
}

void HourBucket::add(Credits price, std::int64_t slots) { add_price(traded, price, slots); }

void HourBucket::count(Credits price, std::int64_t slots) {
  known_sums.reset();
  add_price(counted, price, slots);
}

void PriceHistory::traded(Time at, Credits price, std::int64_t slots) {
  bucket(at).add(price, slots);
}

void PriceHistory::sampled(Time at, std::int64_t supply, std::int64_t demand, std::int64_t leased) {
  sampled_at_ = at;
  auto& b = bucket(at);
  b.supply += supply;
  b.demand += demand;
  b.leased += leased;
  ++b.samples;
}

void PriceHistory::ran(Duration run_time) {
  run_times_.push_back(run_time);
  if (run_times_.size() > kRunTimesKept) run_times_.pop_front();
}

void PriceHistory::drop_before(Time at) {
  while (!hours_.empty() && hours_.front().hour < hour_of(at)) hours_.pop_front();
}

PriceSummary PriceHistory::summary(Time from, Time until) const {
  std::map<Credits, std::int64_t> prices;
  Mean mean;
  for (const auto& b : hours_) {
    if (b.hour < hour_of(from) || b.hour > hour_of(until - Duration(1))) continue;
    for (const auto& [price, slots] : b.traded) {
      prices[price] += slots;
      mean.sum += static_cast<__int128>(price.micro) * slots;
      mean.slots += slots;
    }
  }
  PriceSummary out;
  out.volume = mean.slots;
  if (mean.slots == 0) return out;
  out.average = mean.value();
  out.low = prices.begin()->first;
  out.quartile1 = quantile(prices, mean.slots, 250'000);
  out.median = quantile(prices, mean.slots, 500'000);
  out.quartile3 = quantile(prices, mean.slots, 750'000);
  out.high = prices.rbegin()->first;
  return out;
}

std::optional<Credits> PriceHistory::anchor(int hour) const {
  Mean here, anywhere;
  for (const auto& b : hours_) {
    anywhere.add(b);
    if (near(b.hour, hour)) here.add(b);
  }
  return here.slots > 0 ? here.value() : anywhere.value();
}

std::optional<std::int64_t> PriceHistory::utilisation_ppm(int hour) const {
  std::int64_t used = 0, all = 0;
  for (const auto& b : hours_) {
    if (hour_of_day(b.hour) != hour) continue;
    used += b.leased;
    all += b.leased + b.supply;
  }
  if (all == 0) return std::nullopt;
  return static_cast<std::int64_t>(static_cast<__int128>(used) * kOne / all);
}

std::optional<Duration> PriceHistory::median_run_time() const {
  if (run_times_.empty()) return std::nullopt;
  std::vector<Duration> sorted(run_times_.begin(), run_times_.end());
  std::ranges::nth_element(sorted, sorted.begin() + sorted.size() / 2);
  return sorted[sorted.size() / 2];
}

void Queue::add(AccountId owner, std::int64_t slots) {
  by_owner_[owner] += slots;
  all_ += slots;
}

std::int64_t Queue::counted(std::int64_t capacity) const {
  std::int64_t most = 0;
  for (const auto& [owner, slots] : by_owner_) most = std::max(most, slots);
  const auto others = all_ - most;
  return others + std::min(most, std::max(others, capacity / 10));
}

Credits anchor_price(const PriceHistory& history, Credits class_price, Time slot) {
  return history.anchor(hour_of_day(hour_of(slot))).value_or(class_price);
}

Credits suggested_price(const PriceHistory& history, Credits class_price, const Pressure& pressure,
                        Time now, Time slot) {
  const int hour = hour_of_day(hour_of(slot));
  const auto anchor = anchor_price(history, class_price, slot);

  const auto run = history.median_run_time().value_or(base::hours(1));
  const auto r = std::clamp<std::int64_t>(run.us * kOne / base::hours(1).us, 0, kOne);
  const auto capacity = pressure.leased + pressure.free;
  // With nothing on offer, demand counts as twice the supply, the most the clamp can express, and
  // no demand says nothing.
  auto x = pressure.queued > 0 ? 2 * kOne : kUsual;
  if (capacity > 0) x = (pressure.leased * kOne + pressure.queued * r) / capacity;
  if (hour_of(slot) != hour_of(now)) x = history.utilisation_ppm(hour).value_or(x);

  const auto change = std::clamp<std::int64_t>(x - kUsual, -kOne / 2, kOne);
  const auto seen = std::min(capacity + pressure.queued, kThickMarket);
  const auto factor = kOne + change * seen / kThickMarket;
  return Credits(static_cast<std::int64_t>(static_cast<__int128>(anchor.micro) * factor / kOne));
}

}  // namespace souk::market
