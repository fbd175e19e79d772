#pragma once

#include "mechanism/schedule/discover.h"
#include "mechanism/schedule/schedule.h"

namespace souk::mechanism {

// The last of the jobs ends as early as it can, if the schedule stays as it is until then: the
// smallest tau such that every job has at least steps_i / tau steps a second. As 1 / tau is what a
// linear program maximises, no search over tau is needed, and the answer is exact unless only
// `near` is wanted. Needs `steps`.
// Prices: of a machine, in seconds that the end comes earlier.
class Makespan final : public SchedulePolicy {
 public:
  explicit Makespan(Precision precision = Precision::exact) : precision_(precision) {}
  [[nodiscard]] Result<Schedule> solve(const ScheduleInstance& instance) const override;

 private:
  Precision precision_;
};

}  // namespace souk::mechanism
