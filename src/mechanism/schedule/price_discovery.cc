#include "mechanism/schedule/price_discovery.h"

#include <utility>

#include "mechanism/schedule/allocation.h"
#include "mechanism/schedule/max_min_las.h"

namespace souk::mechanism {

Result<Schedule> PriceDiscovery::solve(const ScheduleInstance& s) const {
  auto found = discover(level_program(s, las_levels(s)), gap_, most_rounds_);
  return Schedule{.shares = std::move(found.shares),
                  .objective = found.objective,
                  .bound = found.bound,
                  .prices = std::move(found.prices)};
}

}  // namespace souk::mechanism
