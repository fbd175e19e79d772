#pragma once

#include <cstddef>
#include <optional>
#include <span>

// Where a job should run now, when prices differ by place and change. Pure.
//
// The cheapest place for the work that is left, by price over speed, of those from which the
// deadline can still be kept: whatever prices do, after a period there the rest fits into the time
// left on the fastest place, a move included. A move costs a restart, so it is made only when it
// saves more than that costs and at least kWorthMoving of what is left to pay.

namespace souk::advisor {

inline constexpr double kWorthMoving = 0.02;

struct SpotPlace {
  double rate = 0;   // Work per second; above 0.
  double price = 0;  // Per hour.
};

struct SpotJobLeft {
  double work = 0;
  double seconds = 0;    // Until the deadline.
  double period_s = 0;   // Until somebody looks again.
  double restart_s = 0;  // Time that a move loses.
};

// The place to be at for the next period. `here` is where it runs now, if it does. Requires a
// place.
[[nodiscard]] std::size_t spot_move(std::span<const SpotPlace> places,
                                    std::optional<std::size_t> here, const SpotJobLeft& left);

}  // namespace souk::advisor
