#pragma once

#include "advisor/schedule.h"

namespace souk::advisor {

// The most steps for the money: sum_ij (T_ij / c_j) x_ij is as large as it can be, while every job
// with an SLO has the steps a second that it needs to be done in time. Needs `cost`, and `steps`
// with `slo`. SLOs that cannot all be met are an error that says by how much longer they would have
// to be. A linear program, solved exactly. Prices: of a machine, in steps a second per unit of
// cost.
class CostSlo final : public SchedulePolicy {
 public:
  [[nodiscard]] Result<Schedule> solve(const ScheduleInstance& instance) const override;
};

}  // namespace souk::advisor
