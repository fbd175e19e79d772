#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

// Which jobs should run on which types of machine, and for what share of the time.
//
// A schedule is a matrix x: job i runs on type j for a share x_ij of the time, with all its workers
// at once. It fits if no share is negative, no job runs more than all the time (sum_j x_ij <= 1),
// and no type has more workers than machines (sum_i s_i x_ij <= N_j). A policy says which of the
// schedules that fit is best, and what a machine of each type is worth to it: a price that the
// market can post.

namespace souk::mechanism {

using base::Result;

// Jobs and machines as every policy sees them. Vectors that are said to be optional are empty where
// nobody knows; check() says what else must hold.
struct ScheduleInstance {
  std::vector<double> capacity;     // Machines of each type.
  std::vector<double> throughputs;  // Steps a second, job after job, type by type; 0: cannot run.
  std::vector<double> scale;        // Workers of each job.
  std::vector<double> weights;      // Who matters more.
  std::vector<double> steps;        // Optional: left to do.
  std::vector<double> done;         // Optional: steps behind it; 0 without.
  std::vector<double> elapsed;      // Optional: seconds since it came; 0 without.
  // Optional: seconds that the steps done so far would have taken on an equal part of everything; 0
  // without.
  std::vector<double> isolated;
  std::vector<double> slo;   // Optional: seconds in which the steps left must be done; 0: any.
  std::vector<double> cost;  // Optional, by type: of a machine for an hour.
  std::vector<int> held;     // Optional: the type it runs on now; -1: none.

  [[nodiscard]] std::size_t jobs() const { return scale.size(); }
  [[nodiscard]] std::size_t types() const { return capacity.size(); }
  [[nodiscard]] std::span<const double> rates(std::size_t job) const {
    return std::span(throughputs).subspan(job * types(), types());
  }
};

// Sizes agree, numbers are finite and have the right sign, and every job can run somewhere. Errors
// name the field and the job or type.
[[nodiscard]] Result<> check(const ScheduleInstance& instance);

struct Schedule {
  std::vector<double> shares;  // x, job after job. Always fits.
  double objective = 0;        // In the policy's own terms (ScheduleEntry::objective).
  // No schedule does better than this, as far as the policy knows; with bound == objective the
  // schedule is proved to be best. Policies that optimise nothing repeat the objective.
  double bound = 0;
  // By type: how much better the objective becomes with one more machine of it. Zero for policies
  // without prices.
  std::vector<double> prices;
  // Shares are of the job's workers, who all run at once and wait for the slowest, rather than of
  // its time.
  bool at_once = false;

  // |bound - objective| as a share of the bound.
  [[nodiscard]] double gap() const;
};

// Proved to be best, up to rounding. A schedule beyond it is no error, but it is said.
inline constexpr double kExact = 1e-9;

// A policy for schedules. Pure and stateless: what it must remember is in the instance.
// Implementations are one file each, listed in schedule_table.cc.
class SchedulePolicy {
 public:
  virtual ~SchedulePolicy() = default;
  // Requires check(instance). An error says which optional field is missing, or why nothing fits.
  [[nodiscard]] virtual Result<Schedule> solve(const ScheduleInstance& instance) const = 0;
};

// One row of the table of policies.
struct ScheduleEntry {
  std::string_view name;
  std::string_view summary;    // One plain sentence.
  std::string_view objective;  // What the number means, and whether more is better.
  bool places;                 // Shares are whole placements, which a round follows as they are.
  const SchedulePolicy& policy;
};

[[nodiscard]] std::span<const ScheduleEntry> schedule_policies();
// Unknown names are errors that suggest the nearest.
[[nodiscard]] Result<const ScheduleEntry*> find_schedule_policy(std::string_view name);

}  // namespace souk::mechanism
