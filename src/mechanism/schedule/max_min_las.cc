#include "mechanism/schedule/max_min_las.h"

#include "mechanism/schedule/allocation.h"

namespace souk::mechanism {

std::vector<double> las_levels(const ScheduleInstance& s) {
  auto out = proportional_rates(s);
  for (std::size_t i = 0; i < s.jobs(); ++i) out[i] *= s.weights[i] / s.scale[i];
  return out;
}

Result<Schedule> MaxMinLas::solve(const ScheduleInstance& s) const {
  auto found = mechanism::solve(level_program(s, las_levels(s)), precision_);
  return Schedule{.shares = std::move(found.shares),
                  .objective = found.t,
                  .bound = found.bound,
                  .prices = std::move(found.prices)};
}

}  // namespace souk::mechanism
