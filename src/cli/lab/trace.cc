#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/lab/lab.h"
#include "cli/shell/human.h"
#include "cli/shell/progress.h"
#include "lab/worlds/trace_world.h"
#include "wire/json.h"

// `souk lab trace`: a cluster's trace under a scheduling policy, through the market.

namespace souk::cli {
namespace {

struct TraceFlags {
  std::string policy = "max-min", trace, throughputs, cluster = "36:36:36", missing = "error", save;
  std::optional<Names> types;  // Nothing: v100, p100, k80.
  std::optional<std::uint64_t> synthetic;
  std::uint64_t seed = 1, jobs = 100'000;
  double hourly = 0, round = 360, recompute = 1'920;
  bool single = false;
};

Result<std::vector<std::int32_t>> machines_in(const std::string& cluster, std::size_t types) {
  std::vector<std::int32_t> out;
  for (const auto part : base::split(cluster, ':')) {
    std::int32_t n = 0;
    SOUK_TRY(read_value(part, n));
    out.push_back(n);
  }
  if (out.size() != types)
    return usage(
        fmt::format("--cluster '{}' has {} numbers for {} types", cluster, out.size(), types),
        "36:36:36 is 36 machines of each of three types");
  return out;
}

Result<std::vector<lab::GavelJob>> trace_of(const TraceFlags& o, const lab::GavelRates& rates) {
  if (o.synthetic) {
    if (*o.synthetic < 1 || *o.synthetic > 100'000) return usage("draw 1 to 100000 jobs");
    SOUK_ASSIGN(auto jobs,
                lab::draw_gavel_jobs(
                    {.jobs = *o.synthetic, .seed = o.seed, .hourly = o.hourly, .single = o.single},
                    rates, o.throughputs));
    if (!o.save.empty()) {
      std::ofstream out(o.save, std::ios::binary);
      out << lab::gavel_trace_text(jobs) << std::flush;
      if (!out) return failed(fmt::format("cannot write {}", o.save));
    }
    return jobs;
  }
  if (o.trace.empty())
    return usage("`souk lab trace` needs a --trace", "or --synthetic 500 to draw one");
  SOUK_ASSIGN(const auto text, base::read_file(o.trace, "--trace takes a file of Gavel's"));
  SOUK_ASSIGN(auto jobs, lab::parse_gavel_jobs(text, o.trace));
  return jobs;
}

Result<lab::ClusterStudy> study_of(const TraceFlags& o) {
  lab::ClusterStudy out;
  out.types = o.types ? o.types->items : std::vector<std::string>{"v100", "p100", "k80"};
  SOUK_ASSIGN(out.machines, machines_in(o.cluster, out.types.size()));
  SOUK_ASSIGN(const auto json, base::read_file(o.throughputs, "--throughputs takes JSON"));
  SOUK_ASSIGN(const auto rates, lab::parse_gavel_rates(json, o.throughputs));
  SOUK_ASSIGN(const auto trace, trace_of(o, rates));
  const auto missing = base::from_string<lab::Missing>(o.missing);
  if (!missing)
    return usage(fmt::format("--missing '{}'", o.missing),
                 base::suggest(o.missing, names_of(lab::Missing{})));
  SOUK_ASSIGN(out.jobs, lab::cluster_jobs(trace, rates, out.types, o.trace, o.jobs, *missing));
  if (!(o.round >= 60 && o.round <= 3'600) || !(o.recompute >= 0 && o.recompute <= 1e6))
    return usage("a round takes 60 to 3600 seconds, and schedules are 0 or more apart");
  out.round = base::Duration(static_cast<std::int64_t>(o.round * 1e6));
  out.recompute = base::Duration(static_cast<std::int64_t>(o.recompute * 1e6));
  return out;
}

std::string hours(double seconds) { return fmt::format("{:.2f} h", seconds / 3600); }

void show_study(const Context& c, const lab::ClusterStudy& study, const lab::ClusterResult& r) {
  using enum Column::Align;
  Table table({{r.policy}, {"", right}});
  table.add({"jobs", std::to_string(r.jobs)});
  table.add({"makespan", hours(r.makespan)});
  table.add({"completion time, mean", hours(r.jct_mean)});
  table.add({"completion time, median", hours(r.jct_p50)});
  table.add({"completion time, 95%", hours(r.jct_p95)});
  table.add({"utilisation", percent(r.utilisation)});
  for (std::size_t j = 0; j < study.types.size(); ++j)
    table.add({fmt::format("  {}", study.types[j]),
               fmt::format("{} at {:.3f}", percent(r.utilisation_by_type[j]), r.prices[j])});
  table.add({"time over time alone, mean", fmt::format("{:.3f}", r.rho_mean)});
  table.add({"time over time alone, 95%", fmt::format("{:.3f}", r.rho_p95)});
  table.add({"time over time alone, worst", fmt::format("{:.3f}", r.rho_worst)});
  table.add({"credits paid", fmt::format("{:.1f}", r.paid)});
  c.print(table);
}

Result<> trace(Context& c, const TraceFlags& o) {
  SOUK_ASSIGN(const auto* policy, mechanism::find_schedule_policy(o.policy));
  SOUK_ASSIGN(const auto study, study_of(o));
  const auto begin = std::chrono::steady_clock::now();
  lab::ClusterResult result;
  {
    constexpr std::uint64_t parts = 1'000;
    Progress bar("simulating", "parts", parts, c.err());
    SOUK_ASSIGN(result, lab::run_cluster(study, *policy, [&](double done) {
                  bar.update(static_cast<std::uint64_t>(done * parts));
                }));
  }
  const auto wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (c.json())
    SOUK_TRY(c.print_json(wire::to_json(result)));
  else
    show_study(c, study, result);
  c.note(fmt::format("{} rounds, {} schedules, {} leases, {} events in {:.2f} s", result.rounds,
                     result.schedules, result.leases, result.events, wall));
  return {};
}

}  // namespace

Command lab_trace_command() {
  auto o = std::make_shared<TraceFlags>();
  Command out{.name = "trace",
              .summary = "a cluster's trace under a scheduling policy",
              .examples = {"lab trace --policy ftf --trace jobs.trace --throughputs rates.json",
                           "lab trace --synthetic 500 --throughputs rates.json --policy makespan"}};
  out.options = {
      flag("--policy NAME", "default max-min; `souk schedule --list` names them", o->policy),
      flag("--trace FILE", "jobs, in Gavel's form, 7 or 10 columns", o->trace),
      required(
          flag("--throughputs FILE", "steps per second of each kind, as JSON", o->throughputs)),
      flag("--cluster N:N:N", "machines of each type, default 36:36:36", o->cluster),
      flag("--types NAMES", "default v100,p100,k80; filled in this order", o->types),
      flag("--round SECONDS", "default 360", o->round),
      flag("--recompute SECONDS", "least time between schedules, default 1920", o->recompute),
      flag("--jobs N", "the first N only", o->jobs),
      flag("--missing WHAT", "jobs without a throughput: error, skip, or fewer workers",
           o->missing),
      flag("--synthetic N", "draw N jobs in Gavel's manner instead of a trace", o->synthetic),
      flag("--seed N", "of the draw, default 1", o->seed),
      flag("--hourly N", "drawn jobs come at this rate; default 0: all at once", o->hourly),
      flag("--single", "drawn jobs have one worker each", o->single),
      flag("--save FILE", "write the drawn trace", o->save)};
  out.details =
      "Runs through the market's own core under a virtual clock: types of machine are slot "
      "classes, "
      "a job's place in a round is a bid that is cleared into a lease and settled at the policy's "
      "prices. docs/scheduling.md describes the rounds.";
  out.run = [o](Context& c) { return trace(c, *o); };
  return out;
}

}  // namespace souk::cli
