#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/time.h"

namespace souk::market {

using base::Credits;

// What one mechanism did for one class while it was in force: what an operator compares two by.
// Sums over rounds, each as if every slot traded were leased for an hour; they stop at the largest
// number rather than overflow.
struct Tally {
  std::int64_t rounds = 0;  // That had supply and demand.
  std::int64_t traded = 0;  // Slots.
  std::int64_t supply = 0, demand = 0, leased = 0;
  std::int64_t pays = 0, gets = 0;  // Micro-credits, by borrowers and to lenders.
  // Limits minus reserves of what traded, and of the best that could have: as declared, which is
  // what people wanted only where they had no reason to say anything else. Over `measured` rounds.
  std::int64_t measured = 0, gain = 0, best = 0;
  // Jobs by how long they waited for their first lease: up to 1 s, 2 s, 4 s...
  std::vector<std::int64_t> waits;
  // The most that borrowers would have paid, like `pays`; over `measured` rounds, like `gain`.
  std::int64_t limits = 0, measured_pays = 0, measured_gets = 0;
  // How far prices were from the competitive ones, by slots traded: their number, and the sum of
  // (price / competitive - 1)^2 in 10^-8.
  std::int64_t compared = 0, off_squares = 0;
  // How prices moved from round to round: steps of ln(price) in millionths, and their squares.
  Credits last_price;
  std::int64_t steps = 0, step_sum = 0, step_squares = 0;

  // A round traded `slots` at the mean price `price`, where `competitive` would have been.
  void priced(Credits price, std::optional<Credits> competitive, std::int64_t slots);
  // Smith's alpha: the root mean square distance from competitive prices, as a share of them.
  [[nodiscard]] std::optional<double> alpha() const;
  // The sample deviation of the steps.
  [[nodiscard]] std::optional<double> volatility() const;

  void waited(base::Duration d);
  // No longer than this did a share `q` of the jobs wait; nothing without jobs.
  [[nodiscard]] std::optional<base::Duration> wait(double q) const;

  SOUK_FIELDS(Tally, rounds, traded, supply, demand, leased, pays, gets, measured, gain, best,
              waits, limits, measured_pays, measured_gets, compared, off_squares, last_price, steps,
              step_sum, step_squares)
};

inline constexpr std::size_t kTallies = 64;  // Mechanisms remembered for a class.

// Of one class.
struct Tallies {
  std::string in_force;  // In the last round.
  std::map<std::string, Tally> of;

  // Of the mechanism in force. One too many is counted with the others under "".
  [[nodiscard]] Tally& now();

  SOUK_FIELDS(Tallies, in_force, of)
};

// a + b, or the nearest number there is.
[[nodiscard]] std::int64_t add_saturating(std::int64_t a, std::int64_t b);

}  // namespace souk::market
