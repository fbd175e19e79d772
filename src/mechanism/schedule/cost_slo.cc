#include "mechanism/schedule/cost_slo.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "mechanism/schedule/allocation.h"

namespace souk::mechanism {
namespace {

constexpr double kRoom = 1e-6;  // What a program of stretched SLOs has to move in.

// Steps a second that each job must have; 0: as it comes.
std::vector<double> required_rates(const ScheduleInstance& s) {
  std::vector<double> out(s.jobs(), 0);
  for (std::size_t i = 0; i < s.slo.size(); ++i)
    if (s.slo[i] > 0) out[i] = s.steps[i] / s.slo[i];
  return out;
}

// How much of what they must have all jobs can have at once.
double level_of(const ScheduleInstance& s, const std::vector<double>& required) {
  if (std::ranges::all_of(required, [](double r) { return r == 0; }))
    return std::numeric_limits<double>::infinity();
  return solve(level_program(s, required)).t;
}

}  // namespace

Result<Schedule> CostSlo::solve(const ScheduleInstance& s) const {
  SOUK_TRY(needs_field("cost", "cost", !s.cost.empty()));
  SOUK_TRY(needs_field("cost with an SLO", "steps", s.slo.empty() || !s.steps.empty()));
  auto required = required_rates(s);
  const auto level = level_of(s, required);
  if (level < 1 && slos_ == Slos::strict)
    return base::fail(base::Code::conflict, "the SLOs cannot all be met",
                      fmt::format("if each had {:.4g} times as long they could",
                                  1 / std::max(level, 1e-300) * (1 + kExact)),
                      "slo");
  if (level < 1)
    for (auto& r : required) r *= std::max(level, 0.0) * (1 - kRoom);
  auto program = level_program(s, std::vector<double>(s.jobs(), 0));
  program.least = std::move(required);
  program.gain = s.throughputs;
  for (std::size_t ij = 0; ij < program.gain.size(); ++ij)
    program.gain[ij] /= s.cost[ij % s.types()];
  auto found = mechanism::solve(program, gap_);
  return Schedule{.shares = std::move(found.shares),
                  .objective = found.objective,
                  .bound = found.bound + found.shortfall * found.objective,  // As far as it counts.
                  .prices = std::move(found.prices)};
}

}  // namespace souk::mechanism
