#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "advisor/forecast.h"
#include "advisor/planners/exact.h"

namespace souk::advisor {

// The mixes that no other beats: none is as fast, as cheap and, where there is a deadline, as
// likely to meet it, and better in one of the three. Time and cost are the expected ones; chances
// within kSameChance of each other are the same, or the front would be full of mixes that differ in
// nothing a person cares about.
struct Front {
  std::vector<Forecast> plans;  // Fastest first; not empty.
  // True: every mix was looked at. False: there are too many, and these are the cheapest mixes for
  // a ladder of deadlines, of all types and of those that never leave, each found by a bounded
  // search (exact.h).
  bool complete = true;
  double mixes = 0;  // How many there are.
};

inline constexpr double kSameChance = 0.005;
inline constexpr double kMostMixes = 200'000;  // That are looked at one by one.

// An error only where the loss curve covers no mix.
[[nodiscard]] Result<Front> pareto(const Forecaster& forecaster,
                                   std::optional<double> deadline_s = {});

}  // namespace souk::advisor
