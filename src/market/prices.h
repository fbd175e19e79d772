#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "market/pair_prices.h"

namespace souk::market {

using base::AccountId;
using base::Credits;
using base::Duration;
using base::Time;

struct HourSums {
  __int128 value = 0;  // Price x slots.
  std::int64_t slots = 0;
};

// What happened to one slot class in one hour.
struct HourBucket {
  std::int64_t hour = 0;                   // Hours since 1970.
  std::map<Credits, std::int64_t> traded;  // Price -> slots; at most kPricesPerHour prices.
  std::int64_t supply = 0;                 // Sums over the hour's samples, in slots.
  std::int64_t demand = 0;
  std::int64_t leased = 0;
  std::int64_t samples = 0;
  std::map<Credits, std::int64_t> counted;  // As `traded`: what an anchor is made from.

  // Of `counted`; summed up once, until something is added.
  [[nodiscard]] const HourSums& sums() const;
  void add(Credits price, std::int64_t slots);
  void count(Credits price, std::int64_t slots);
  mutable std::optional<HourSums> known_sums;  // Derived; nobody's but sums()'s.

  SOUK_FIELDS(HourBucket, hour, traded, supply, demand, leased, samples, counted)
};

inline constexpr std::size_t kPricesPerHour = 256;
inline constexpr std::int64_t kMostChangePpm = 100'000;  // A step from it, or a renewal's.
inline constexpr std::int64_t kThickMarket = 20;         // Slots of which use says something.
inline constexpr std::size_t kRunTimesKept = 64;

struct PriceSummary {
  std::int64_t volume = 0;  // Slots traded.
  std::optional<Credits> average, low, quartile1, median, quartile3, high;

  SOUK_FIELDS(PriceSummary, volume, average, low, quartile1, median, quartile3, high)
};

// `price`, but at most kMostChangePpm away from `from`.
[[nodiscard]] Credits step_towards(Credits from, Credits price);

// Recent prices, supply and use of one slot class: what people look at to choose a price. Bounded:
// hours older than the operator's `history` are dropped. Pure.
//
// What people see (summary, last) is all that was traded between two accounts. What prices of other
// contracts are made from (rate, anchor) is made so that nobody moves it alone:
//   - only what was paid counts, not what was agreed;
//   - the going rate is the median over owners of the median price of each owner's pairs, so that
//   an
//     owner counts once, whatever its volume (pair_prices.h);
//   - accounts that trade only with each other do not count: of the groups of accounts that trade
//     with each other, the one with the most owners makes the rate;
//   - fewer than kLeastOwners make none;
//   - an anchor counts each price at most kMostChangePpm away from the rate of its time.
// docs/studies/pushing-prices.md has what it costs to move one.
class PriceHistory {
 public:
  void traded(Time at, Credits price, std::int64_t slots);
  void sampled(Time at, std::int64_t supply, std::int64_t demand, std::int64_t leased);
  void cleared(Credits price) { last_ = price; }
  // `pair` paid `price`, and with `slots` for the first time in its lease's term.
  void paid(Time at, const OwnerPair& pair, Credits price, std::int64_t slots);
  void ran(Duration run_time);
  void drop_before(Time at);

  // Prices paid in [from, until), hour by hour resolution.
  [[nodiscard]] PriceSummary summary(Time from, Time until) const;
  // What slots of this class are worth to most owners; nothing where there are too few to say.
  [[nodiscard]] std::optional<Credits> rate() const { return pairs_.rate(); }
  // Volume-weighted mean of the hours whose hour of the day is `hour_of_day` or a neighbour of it,
  // else of all hours; nothing when nothing was counted.
  [[nodiscard]] std::optional<Credits> anchor(int hour_of_day) const;
  // leased / (leased + supply) over the samples at this hour of the day, in millionths.
  [[nodiscard]] std::optional<std::int64_t> utilisation_ppm(int hour_of_day) const;
  [[nodiscard]] std::optional<Duration> median_run_time() const;
  // The price of the last round that traded.
  [[nodiscard]] std::optional<Credits> last() const { return last_; }
  [[nodiscard]] Time sampled_at() const { return sampled_at_; }
  [[nodiscard]] const std::deque<HourBucket>& hours() const { return hours_; }
  [[nodiscard]] const PairPrices& pairs() const { return pairs_; }

  SOUK_FIELDS(PriceHistory, hours_, run_times_, last_, sampled_at_, pairs_)

 private:
  HourBucket& bucket(Time at);

  std::deque<HourBucket> hours_;    // Oldest first.
  std::deque<Duration> run_times_;  // Of jobs that succeeded, oldest first.
  std::optional<Credits> last_;
  Time sampled_at_;
  PairPrices pairs_;
};

// What the suggestion is made from. Only those count who would trade at the anchor: people who wait
// for a lower price are no reason to raise it, and slots held back for a higher one none to lower
// it. A suggestion that counted them would run away from both.
struct Pressure {
  std::int64_t leased = 0;  // Slots in use now.
  std::int64_t free = 0;    // Slots on offer now, with a reserve of the anchor at most.
  std::int64_t queued = 0;  // Slots wanted and not had, with a limit of the anchor at least.
};

// Who waits for slots, and for how many. Nobody's wishes count for more than those of all others
// together, or a tenth of the slots that there are: to wait costs nothing.
class Queue {
 public:
  void add(AccountId owner, std::int64_t slots);
  [[nodiscard]] std::int64_t counted(std::int64_t capacity) const;

 private:
  std::map<AccountId, std::int64_t> by_owner_;
  std::int64_t all_ = 0;
};

// The price that a suggestion for the hour that contains `slot` starts from: the mean recently paid
// at this hour of the day, or at any hour, or the class's own default price when nothing was traded
// yet.
[[nodiscard]] Credits anchor_price(const PriceHistory& history, Credits class_price, Time slot);

// The suggested price per slot-hour for the hour that contains `slot`:
//
//   anchor_price x (1 + w (clamp(1 + x - 0.7, 0.5, 2) - 1))
//
// with x, the expected use of the supply: for the current hour (leased + queued x r) / (leased +
// free)
//   and r = the share of an hour a typical recent job runs (at most 1; 1 when unknown); for later
//   hours the utilisation measured at that hour of the day, else the current use.
//
// and w = the slots that there are or that are waited for, over kThickMarket; at most 1.
//
// At 70% use the price stays, and so it does while nothing is offered or wanted; an idle market
// halves it at most, a crowded one doubles it at most. In a thin market, where one borrower makes
// it idle or crowded, it moves in proportion less: by a twentieth at most per slot.
[[nodiscard]] Credits suggested_price(const PriceHistory& history, Credits class_price,
                                      const Pressure& pressure, Time now, Time slot);

}  // namespace souk::market
