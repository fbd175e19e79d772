#pragma once

#include <cstdint>

#include "mechanism/schedule/schedule.h"

namespace souk::mechanism {

// The most steps for the money: sum_ij (T_ij / c_j) x_ij is as large as it can be, while every job
// with an SLO has the steps a second that it needs to be done in time. Needs `cost`, and `steps`
// with `slo`. SLOs that cannot all be met are an error that says by how much longer they would have
// to be; or they become that much longer, all alike. A linear program, solved exactly unless a
// larger gap will do. Prices: of a machine, in steps a second per unit of cost.
class CostSlo final : public SchedulePolicy {
 public:
  enum class Slos : std::uint8_t { strict, stretched };
  // Ends at this gap.
  explicit CostSlo(Slos slos = Slos::strict, double gap = 1e-10) : slos_(slos), gap_(gap) {}
  [[nodiscard]] Result<Schedule> solve(const ScheduleInstance& instance) const override;

 private:
  Slos slos_;
  double gap_;
};

}  // namespace souk::mechanism
