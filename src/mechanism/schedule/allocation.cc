#include "mechanism/schedule/allocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace souk::mechanism {

std::vector<double> speeds(const ScheduleInstance& s, const Schedule& schedule) {
  std::vector<double> out(s.jobs(), 0);
  for (std::size_t i = 0; i < s.jobs(); ++i) {
    const auto rates = s.rates(i);
    auto slowest = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < s.types(); ++j) {
      const auto share = schedule.shares[i * s.types() + j];
      if (share == 0) continue;
      out[i] += rates[j] * share;
      slowest = std::min(slowest, rates[j]);
    }
    if (schedule.at_once && out[i] > 0) out[i] = slowest;
  }
  return out;
}

std::vector<double> machines_used(const ScheduleInstance& s, const std::vector<double>& shares) {
  std::vector<double> out(s.types(), 0);
  for (std::size_t i = 0; i < s.jobs(); ++i)
    for (std::size_t j = 0; j < s.types(); ++j) out[j] += s.scale[i] * shares[i * s.types() + j];
  return out;
}

std::vector<double> proportional_rates(const ScheduleInstance& s) {
  const auto machines = std::accumulate(s.capacity.begin(), s.capacity.end(), 0.0);
  std::vector<double> out(s.jobs(), 0);
  for (std::size_t i = 0; i < s.jobs(); ++i)
    for (std::size_t j = 0; j < s.types(); ++j) out[i] += s.rates(i)[j] * s.capacity[j] / machines;
  return out;
}

std::vector<double> isolated_rates(const ScheduleInstance& s) {
  const auto machines = std::accumulate(s.capacity.begin(), s.capacity.end(), 0.0);
  auto out = proportional_rates(s);
  for (std::size_t i = 0; i < s.jobs(); ++i)
    out[i] *= std::min(1.0, machines / (static_cast<double>(s.jobs()) * s.scale[i]));
  return out;
}

SharesProgram level_program(const ScheduleInstance& s, const std::vector<double>& needs) {
  return {.jobs = s.jobs(),
          .types = s.types(),
          .rate = s.throughputs,
          .gain = {},
          .least = std::vector<double>(s.jobs(), 0),
          .level = needs,
          .scale = s.scale,
          .capacity = s.capacity};
}

Result<> needs_field(std::string_view policy, std::string_view field, bool present) {
  if (present) return {};
  return base::fail(base::Code::invalid, fmt::format("{} needs {}", policy, field),
                    fmt::format("add \"{}\" to the instance", field), std::string(field));
}

}  // namespace souk::mechanism
