#pragma once

#include "advisor/schedule.h"

namespace souk::advisor {

// Finish-time fairness: a job's rho is how long it takes in all, from its arrival to its end under
// this schedule, over how long it would take alone with an equal part of the cluster. The largest
// rho is made as small as it can be. Below 1, sharing is better for everybody than walls. Needs
// `steps`; `elapsed` and `isolated` are 0 where they are absent.
//
// For a given rho each job needs so many steps a second, and a linear program says whether all can
// have them. That level grows with rho; the root is found by Newton's method, with the program's
// duals as its slope, inside a bracket that only shrinks: each probe either finds a schedule that
// is better than all before, or proves that no schedule reaches this rho. Prices: of a machine, in
// rho.
class FinishTime final : public SchedulePolicy {
 public:
  [[nodiscard]] Result<Schedule> solve(const ScheduleInstance& instance) const override;
};

}  // namespace souk::advisor
