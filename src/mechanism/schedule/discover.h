#pragma once

#include <cstdint>

#include "mechanism/schedule/lp.h"

namespace souk::mechanism {

// Programs of levels (without gains) solved nearly, as a market would solve them. Prices are
// posted; each job answers with the cheapest way to reach what a common level asks of it, alone and
// without knowing of the others; types that are wanted by more than there are become dearer, the
// others cheaper.
//
// The level asked of all is the largest that everything the machines are worth at these prices
// could pay for. No shares reach more, whatever the prices: each round is a bound. A mean of the
// answers so far, in which the later count more, cut to what there is, are shares that fit: the
// distance between the two is known at every moment, and the search ends when it is small enough.
//
// A round is one pass over the jobs with a few numbers kept of each, in any order: for 10^5 jobs
// and more, and for jobs that answer by themselves. Not exact: solve() is.
inline constexpr double kNearGap = 2e-3;
[[nodiscard]] SharesSolution discover(const SharesProgram& program, double gap = kNearGap,
                                      int most_rounds = 400);

// How a policy solves its programs. near: to within kNearGap, in a tenth of the time or less.
enum class Precision : std::uint8_t { exact, near };

// solve() to `tolerance`, or discover(). Requires a program of levels.
[[nodiscard]] SharesSolution solve(const SharesProgram& program, Precision precision,
                                   double tolerance = 1e-10);

}  // namespace souk::mechanism
