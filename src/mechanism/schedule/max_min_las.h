#pragma once

#include "mechanism/schedule/discover.h"
#include "mechanism/schedule/schedule.h"

namespace souk::mechanism {

// Least attained service on machines that are not alike: the smallest of the jobs' levels is as
// large as it can be, where a job's level is its steps a second, times its workers, over its weight
// and over what it would have with all its time spread evenly over the cluster
// (proportional_rates). So nobody is served less, in its own measure of the machines, to serve
// another more.
//
// A linear program, solved exactly unless only `near` is wanted. Prices: of a machine, in levels of
// the worst-off job.
class MaxMinLas final : public SchedulePolicy {
 public:
  explicit MaxMinLas(Precision precision = Precision::exact) : precision_(precision) {}
  [[nodiscard]] Result<Schedule> solve(const ScheduleInstance& instance) const override;

 private:
  Precision precision_;
};

// Steps a second that are a level of one, by job: w_i T_i^prop / s_i.
[[nodiscard]] std::vector<double> las_levels(const ScheduleInstance& instance);

}  // namespace souk::mechanism
