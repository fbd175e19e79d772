#pragma once

#include <cstddef>
#include <vector>

namespace souk::mechanism {

// The linear programs behind schedules: for n jobs and m types, with x >= 0,
//
//   maximise   t, or sum_ij gain_ij x_ij
//   so that    sum_j rate_ij x_ij >= least_i + level_i t       for each job i
//              sum_j x_ij <= 1                                 for each job i
//              sum_i scale_i x_ij <= capacity_j                for each type j
//
// where t is free, and there if any level is above zero. Columns with rate 0 are not used.
//
// Solved by a primal-dual interior point method. Each job has two rows of its own and meets the
// others only in the m rows of capacity and in t, so a Newton step is n systems of two unknowns and
// one of m + 1: time and memory are linear in the number of jobs, and the number of steps hardly
// depends on it. Where several optima exist it returns one inside their set rather than a corner,
// which shares among equals instead of choosing between them.
struct SharesProgram {
  std::size_t jobs = 0, types = 0;
  std::vector<double> rate;      // jobs x types, >= 0; above 0 somewhere for each job with a level.
  std::vector<double> gain;      // jobs x types, >= 0; empty with levels.
  std::vector<double> least;     // By job, >= 0; any number for a job with a level.
  std::vector<double> level;     // By job, >= 0.
  std::vector<double> scale;     // By job, > 0.
  std::vector<double> capacity;  // By type, > 0.
};

struct SharesSolution {
  std::vector<double> shares;  // x, made to fit the shares' and the capacities' rows exactly.
  double t = 0;                // The largest for these shares; 0 without levels.
  double objective = 0;        // Of these shares.
  // Weak duality at the prices below: no feasible point has more. Holds whatever the steps before
  // have come to, up to the rounding of one sum.
  double bound = 0;
  double shortfall = 0;        // Of a row with `least`, the most that is missing, as a share.
  std::vector<double> prices;  // Of the capacities: dual values, by type.
  int steps = 0;
};

// Deterministic: plain sums in order. Programs with `least` must be feasible: see SharesSolution's
// shortfall, which then is rounding.
[[nodiscard]] SharesSolution solve(const SharesProgram& program, double tolerance = 1e-10);

}  // namespace souk::mechanism
