#pragma once

#include <cstdint>
#include <limits>

#include "advisor/forecast.h"

// The best of all mixes, by branch and bound. Pure and deterministic.
//
// For each number of machines n the time of every type's step is fixed, so that a mix is a
// knapsack: its steps per second and its price are sums. The search gives machines to one type
// after the other. It leaves a branch when
//
// - the fastest machines that are left would not finish in time, or
// - no way to fill it is cheaper than the best mix so far. That is decided by linear programming:
//   with j the least iterations, a cheaper mix has price < best / j x rate and rate >= j /
//   deadline. For any m >= 0 the least of price - (best/j + m) rate + m j/deadline over the
//   machines that are left is a sum over the smallest of their coefficients, and if it is not
//   negative for one m, there is no such mix.
//
// Iterations depend on the mix only through its batch and its inequality, which are bounded: so the
// bounds hold for the model in full. What is left at the end is evaluated by Forecaster::estimate,
// and the best is proved to be so.

namespace souk::advisor {

// No deadline, or no budget.
inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

struct ExactPlan {
  Mix mix;
  bool proved = true;  // False: the limit on nodes ended the search first.
  std::uint64_t nodes = 0;
};

struct ExactLimits {
  std::uint64_t nodes = 20'000'000;
};

// The cheapest mix that is done by the deadline, and the fastest of those that cost the same (to a
// billionth): where machines scale perfectly, many do. The error for a deadline that none meets
// names the tightest that one does.
[[nodiscard]] Result<ExactPlan> cheapest_plan(const Forecaster& forecaster, double deadline_s,
                                              const ExactLimits& limits = {});

// The fastest mix that costs at most `budget` credits, the hub's price not counted. The error for a
// budget that none keeps names the least that one does.
[[nodiscard]] Result<ExactPlan> fastest_plan(const Forecaster& forecaster, double budget,
                                             const ExactLimits& limits = {});

}  // namespace souk::advisor
