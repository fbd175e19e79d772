#include "lab/files/schedule_file.h"

#include <fmt/format.h>

#include <vector>

#include "base/fields.h"
#include "mechanism/schedule/allocation.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using Rows = std::vector<std::vector<double>>;

// The forms in which these things stand in a file.
struct InstanceForm {
  Rows throughputs;
  std::vector<double> capacity, scale, weights, steps, done, elapsed, isolated, slo, cost;
  std::vector<int> held;
  SOUK_FIELDS(InstanceForm, throughputs, capacity, scale, weights, steps, done, elapsed, isolated,
              slo, cost, held)
};

struct ScheduleForm {
  std::string policy;
  double objective = 0, bound = 0, gap = 0;
  bool exact = false;
  Rows allocation;
  std::vector<double> prices;
  bool at_once = false;
  std::vector<double> speeds;
  std::string meaning;
  SOUK_FIELDS(ScheduleForm, policy, objective, bound, gap, exact, allocation, prices, at_once,
              speeds, meaning)
};

}  // namespace

base::Result<mechanism::ScheduleInstance> read_schedule_instance(std::string_view json) {
  SOUK_ASSIGN(auto form, wire::from_json<InstanceForm>(json));
  const auto jobs = form.throughputs.size();
  mechanism::ScheduleInstance out{.capacity = std::move(form.capacity),
                                  .throughputs = {},
                                  .scale = std::move(form.scale),
                                  .weights = std::move(form.weights),
                                  .steps = std::move(form.steps),
                                  .done = std::move(form.done),
                                  .elapsed = std::move(form.elapsed),
                                  .isolated = std::move(form.isolated),
                                  .slo = std::move(form.slo),
                                  .cost = std::move(form.cost),
                                  .held = std::move(form.held)};
  for (std::size_t i = 0; i < jobs; ++i) {
    const auto& row = form.throughputs[i];
    if (row.size() != out.capacity.size())
      return base::fail(base::Code::invalid,
                        fmt::format("throughputs[{}] has {} numbers", i, row.size()),
                        fmt::format("one for each type of machine, {} in all", out.capacity.size()),
                        fmt::format("throughputs[{}]", i));
    out.throughputs.insert(out.throughputs.end(), row.begin(), row.end());
  }
  if (out.scale.empty()) out.scale.assign(jobs, 1);
  if (out.weights.empty()) out.weights.assign(jobs, 1);
  if (out.scale.size() != jobs)
    return base::fail(base::Code::invalid, fmt::format("scale has {} numbers", out.scale.size()),
                      fmt::format("one for each job, {} in all", jobs), "scale");
  SOUK_TRY(check(out));
  return out;
}

std::string schedule_json(const mechanism::ScheduleEntry& policy,
                          const mechanism::ScheduleInstance& instance,
                          const mechanism::Schedule& schedule) {
  ScheduleForm out{.policy = std::string(policy.name),
                   .objective = schedule.objective,
                   .bound = schedule.bound,
                   .gap = schedule.gap(),
                   .exact = schedule.gap() <= mechanism::kExact,
                   .allocation = {},
                   .prices = schedule.prices,
                   .at_once = schedule.at_once,
                   .speeds = mechanism::speeds(instance, schedule),
                   .meaning = std::string(policy.objective)};
  for (std::size_t i = 0; i < instance.jobs(); ++i) {
    const auto row = schedule.shares.begin() + static_cast<std::ptrdiff_t>(i * instance.types());
    out.allocation.emplace_back(row, row + static_cast<std::ptrdiff_t>(instance.types()));
  }
  return wire::to_json(out);
}

}  // namespace souk::lab
