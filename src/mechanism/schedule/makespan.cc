#include "mechanism/schedule/makespan.h"

#include "mechanism/schedule/allocation.h"

namespace souk::mechanism {

Result<Schedule> Makespan::solve(const ScheduleInstance& s) const {
  SOUK_TRY(needs_field("makespan", "steps", !s.steps.empty() || s.jobs() == 0));
  if (s.jobs() == 0) return Schedule{.prices = std::vector<double>(s.types(), 0)};
  auto found = mechanism::solve(level_program(s, s.steps), precision_);
  Schedule out{.shares = std::move(found.shares),
               .objective = 1 / found.t,
               .bound = 1 / found.bound,
               .prices = std::move(found.prices)};
  // d tau = d (1 / t) = -tau^2 dt.
  for (auto& p : out.prices) p *= out.objective * out.objective;
  return out;
}

}  // namespace souk::mechanism
