// Schedules: 100,000 jobs by posted prices beside the exact program, and a trace of 500 jobs
// through the market. See README.md.

#include <array>
#include <cmath>

#include "base/random.h"
#include "bench/report.h"
#include "lab/worlds/trace_world.h"
#include "mechanism/schedule/price_discovery.h"
#include "mechanism/schedule/schedule.h"

namespace souk::bench {
namespace {

// Jobs of 25 kinds, each faster or slower by up to a tenth than its kind, most alone, some in
// gangs.
mechanism::ScheduleInstance crowd(std::size_t jobs, double machines) {
  base::Random random(1);
  std::vector<std::array<double, 3>> kinds;
  for (int k = 0; k < 25; ++k) {
    const auto slow = std::exp(3 * random.unit());
    const auto mid = slow * (1.2 + 2 * random.unit());
    kinds.push_back({mid * (1.2 + 2 * random.unit()), mid, slow});
  }
  mechanism::ScheduleInstance out{.capacity = {machines, machines, machines}};
  for (std::size_t i = 0; i < jobs; ++i) {
    const auto& kind = kinds[random.below(kinds.size())];
    for (const auto rate : kind) out.throughputs.push_back(rate * (.9 + .2 * random.unit()));
    out.scale.push_back(random.chance(4) ? static_cast<double>(2 << random.below(3)) : 1);
    out.weights.push_back(1);
    out.steps.push_back(kind[0] * 3600 * std::exp(3 * random.unit()));
  }
  return out;
}

struct Timed {
  mechanism::Schedule schedule;
  double seconds = 0;
};

Timed solve(std::string_view policy, const mechanism::ScheduleInstance& instance) {
  const auto* entry = must(mechanism::find_schedule_policy(policy));
  const CpuWatch watch;
  auto schedule = must(entry->policy.solve(instance));
  return {std::move(schedule), watch.seconds()};
}

void many_jobs(std::size_t jobs, Report& report) {
  const auto instance = crowd(jobs, static_cast<double>(jobs) / 20);
  const auto exact = solve("max-min", instance);
  if (exact.schedule.gap() > mechanism::kExact) give_up("the exact program is not exact");
  const auto near = solve("price-discovery", instance);
  report.add({.what = fmt::format("price discovery, {} jobs", jobs),
              .result = near.seconds,
              .unit = "s",
              .baseline = exact.seconds,
              .baseline_is = "the exact program",
              .bar = 10,
              .at_most = true});
  report.add({.what = "  its level, of the best there is",
              .result = 100 * near.schedule.objective / exact.schedule.objective,
              .unit = "%",
              .bar = 99.5});
  report.note(fmt::format(
      "exact {:.9g} (gap {:.1e}), discovered {:.9g} (says itself at most {:.2f}% below the best)",
      exact.schedule.objective, exact.schedule.gap(), near.schedule.objective,
      100 * near.schedule.gap()));
}

void few_jobs(Report& report) {
  const auto instance = crowd(2'048, 100);
  for (const auto* policy : {"max-min", "makespan", "ftf", "hadar"}) {
    const auto found = solve(policy, instance);
    report.add({.what = fmt::format("{}, 2048 jobs", policy),
                .result = 1000 * found.seconds,
                .unit = "ms"});
  }
}

// Types and jobs like those of `souk lab trace --synthetic 500`.
lab::ClusterStudy trace(std::size_t jobs) {
  auto instance = crowd(jobs, 36);
  lab::ClusterStudy out{.types = {"v100", "p100", "k80"}, .machines = {36, 36, 36}};
  base::Random random(2);
  for (std::size_t i = 0; i < jobs; ++i) {
    const auto rates = instance.rates(i);
    const auto u = random.unit();
    const auto minutes = std::pow(10, random.chance(5) ? 3 + u : 1.5 + 1.5 * u);
    out.jobs.push_back({.steps = rates[0] * minutes * 60,
                        .workers = static_cast<std::int32_t>(std::min(8.0, instance.scale[i])),
                        .rates = {rates.begin(), rates.end()}});
  }
  return out;
}

void traces(Report& report) {
  const auto study = trace(500);
  for (const auto* name : {"max-min", "makespan", "ftf", "hadar", "fifo"}) {
    const auto* policy = must(mechanism::find_schedule_policy(name));
    const CpuWatch watch;
    const auto result = must(lab::run_cluster(study, *policy));
    report.add({.what = fmt::format("a trace of 500 jobs under {}, {} events", name, result.events),
                .result = watch.seconds(),
                .unit = "s",
                .bar = 2,
                .at_most = true});
  }
}

int main(int argc, char** argv) {
  const Flags flags(argc, argv, {"jobs"});
  Report report("schedule", flags);
  many_jobs(flags.number("jobs", 100'000), report);
  few_jobs(report);
  traces(report);
  report.note("processor time of one thread");
  return report.finish();
}

}  // namespace
}  // namespace souk::bench

int main(int argc, char** argv) { return souk::bench::main(argc, argv); }
