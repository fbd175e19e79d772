#pragma once

#include "mechanism/schedule/discover.h"
#include "mechanism/schedule/schedule.h"

namespace souk::mechanism {

// Finish-time fairness: a job's rho is how long it takes in all, from its arrival to its end under
// this schedule, over how long it would take alone with an equal part of the cluster. The largest
// rho is made as small as it can be. Below 1, sharing is better for everybody than walls. Needs
// `steps`; `elapsed` and `isolated` are 0 where they are absent.
//
// The steps a second that a job needs for a given rho are a convex function of 1 / rho, and a
// linear one for a job that has just come. With its tangent in place of it the largest 1 / rho is a
// linear program, and as a tangent asks for too little, never for too much, that program's answer
// is a bound for all schedules. The tangents move there and the program is solved again, which
// closes the gap with the square of what is left of it: one program if everybody is new, three on
// average. Prices: of a machine, in rho.
class FinishTime final : public SchedulePolicy {
 public:
  explicit FinishTime(Precision precision = Precision::exact) : precision_(precision) {}
  [[nodiscard]] Result<Schedule> solve(const ScheduleInstance& instance) const override;

 private:
  Precision precision_;
};

}  // namespace souk::mechanism
