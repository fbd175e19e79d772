#include "market/prices.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <utility>

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

// The middle one, or half way between the two in the middle. Changes their order.
Credits median(std::span<Credits> prices) {
  CHECK(!prices.empty());
  if (prices.size() == 1) return prices.front();
  const auto middle = prices.begin() + static_cast<std::ptrdiff_t>(prices.size() / 2);
  std::ranges::nth_element(prices, middle);
  if (prices.size() % 2 == 1) return *middle;
  const auto below = *std::ranges::max_element(prices.begin(), middle);
  return Credits(below.micro + (middle->micro - below.micro) / 2);
}

// Accounts in groups that trade with each other, and what each of them paid or got. Made anew after
// nearly every payment, so it is a few flat arrays. What comes out does not depend on which account
// has which place.
class Owners {
 public:
  using Place = std::uint32_t;  // Of an account, here.

  explicit Owners(const std::vector<PairPrice>& pairs)
      : table_(std::bit_ceil(4 * pairs.size())), prices_(2 * pairs.size()) {
    accounts_.reserve(prices_.size());
    group_.reserve(prices_.size());
    ends_.reserve(prices_.size());
    std::vector<Place> places(prices_.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto a = places[2 * i] = place(pairs[i].pair.borrower);
      const auto b = places[2 * i + 1] = place(pairs[i].pair.lender);
      ++ends_[a];
      ++ends_[b];
      group_[leader(a)] = leader(b);
    }
    // First each account's prices begin where those of the one before end; then they are filled in.
    std::exclusive_scan(ends_.begin(), ends_.end(), ends_.begin(), std::uint32_t{0});
    for (std::size_t i = 0; i < places.size(); ++i)
      prices_[ends_[places[i]]++] = pairs[i / 2].price;
  }

  // The group with the most owners; of two of a size the one that has the oldest account.
  [[nodiscard]] std::vector<Place> largest() {
    struct Group {
      std::uint32_t size = 0;
      AccountId oldest;
    };
    std::vector<Group> groups(accounts_.size());
    for (Place i = 0; i < accounts_.size(); ++i) {
      auto& g = groups[leader(i)];
      if (g.size++ == 0 || accounts_[i] < g.oldest) g.oldest = accounts_[i];
    }
    const auto less = [](const Group& a, const Group& b) {
      return a.size != b.size ? a.size < b.size : b.oldest < a.oldest;
    };
    const auto most = std::ranges::max_element(groups, less);
    std::vector<Place> out;
    out.reserve(most->size);
    for (Place i = 0; i < accounts_.size(); ++i)
      if (&groups[leader(i)] == &*most) out.push_back(i);
    return out;
  }
  [[nodiscard]] AccountId account(Place at) const { return accounts_[at]; }
  [[nodiscard]] Credits median_of(Place at) {
    const auto begin = at == 0 ? 0 : ends_[at - 1];
    return median(std::span(prices_).subspan(begin, ends_[at] - begin));
  }

 private:
  // Of this account; a new one gets the next.
  Place place(AccountId account) {
    const auto mask = table_.size() - 1;
    auto slot = (account.value * 0x9E37'79B9'7F4A'7C15) >> 32 & mask;
    for (; table_[slot] != 0; slot = (slot + 1) & mask)
      if (accounts_[table_[slot] - 1] == account) return table_[slot] - 1;
    const auto next = static_cast<Place>(accounts_.size());
    accounts_.push_back(account);
    group_.push_back(next);
    ends_.push_back(0);
    table_[slot] = next + 1;
    return next;
  }
  Place leader(Place i) {
    while (group_[i] != i) i = group_[i] = group_[group_[i]];
    return i;
  }

  std::vector<Place> table_;  // A hash table of places plus one, or 0; half full at most.
  std::vector<AccountId> accounts_;
  std::vector<Place> group_;         // A place in the same group; of its leader its own.
  std::vector<std::uint32_t> ends_;  // Of each account's part of `prices_`.
  std::vector<Credits> prices_;
};

}  // namespace

Credits step_towards(Credits from, Credits price) {
  const auto step =
      static_cast<std::int64_t>(static_cast<__int128>(from.micro) * kMostChangePpm / kOne);
  return std::clamp(price, Credits(from.micro - step), Credits(from.micro + step));
}

bool PriceHistory::GoingRate::counts(const OwnerPair& pair) const {
  return price && std::ranges::binary_search(owners, pair.borrower);
}

const PriceHistory::GoingRate& PriceHistory::going_rate() const {
  if (known_rate_) return *known_rate_;
  auto& out = known_rate_.emplace();
  if (pairs_.size() + 1 < kLeastOwners) return out;  // A group of n has n - 1 pairs at least.
  Owners owners(pairs_);
  const auto group = owners.largest();
  if (group.size() < kLeastOwners) return out;
  std::vector<Credits> medians;
  medians.reserve(group.size());
  out.owners.reserve(group.size());
  for (const auto at : group) {
    medians.push_back(owners.median_of(at));
    out.owners.push_back(owners.account(at));
  }
  std::ranges::sort(out.owners);
  out.price = median(medians);
  return out;
}

std::optional<Credits> PriceHistory::rate() const { return going_rate().price; }

// Where there is no room for another pair, the oldest goes; first of those that do not count.
void PriceHistory::make_room(const OwnerPair& pair) {
  const auto drop_oldest = [&](auto wanted) {
    auto oldest = pairs_.end();
    for (auto it = pairs_.begin(); it != pairs_.end(); ++it)
      if (wanted(*it) && (oldest == pairs_.end() || it->at < oldest->at)) oldest = it;
    if (oldest == pairs_.end()) return false;
    pairs_.erase(oldest);
    known_rate_.reset();
    return true;
  };
  const auto cap = [&](auto mine) {
    if (static_cast<std::size_t>(std::ranges::count_if(pairs_, mine)) >= kPairsPerOwner)
      drop_oldest(mine);
  };
  cap([&](const PairPrice& p) { return p.pair.borrower == pair.borrower; });
  cap([&](const PairPrice& p) { return p.pair.lender == pair.lender; });
  if (pairs_.size() < kPairsKept) return;
  const auto rate = going_rate();
  if (!drop_oldest([&](const PairPrice& p) { return !rate.counts(p.pair); }))
    drop_oldest([](const PairPrice&) { return true; });
}

void PriceHistory::note_pair(Time at, const OwnerPair& pair, Credits price) {
  const auto old = std::erase_if(pairs_, [&](const auto& p) { return p.at + kPairsFor <= at; });
  if (old > 0) known_rate_.reset();
  const auto find = [&] { return std::ranges::lower_bound(pairs_, pair, {}, &PairPrice::pair); };
  if (const auto it = find(); it != pairs_.end() && it->pair == pair) {
    if (it->price != price) known_rate_.reset();
    it->price = price;
    it->at = at;
    return;
  }
  make_room(pair);
  pairs_.insert(find(), {pair, price, at});
  known_rate_.reset();
}

void PriceHistory::paid(Time at, const OwnerPair& pair, Credits price, std::int64_t slots) {
  note_pair(at, pair, price);
  if (slots == 0) return;
  const auto& rate = going_rate();
  if (rate.counts(pair)) bucket(at).count(step_towards(*rate.price, price), slots);
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
