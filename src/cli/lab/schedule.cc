#include <fmt/format.h>

#include <memory>

#include "base/file.h"
#include "cli/commands/commands.h"
#include "cli/shell/human.h"
#include "lab/files/schedule_file.h"
#include "mechanism/schedule/allocation.h"
#include "mechanism/schedule/schedule.h"
#include "wire/json.h"

// One scheduling problem from a file: who should run where, for what share of the time, and what a
// machine of each type is worth. Needs no server.

namespace souk::cli {
namespace {

struct ScheduleFlags {
  std::string policy = "max-min";
  std::string instance;
  bool list = false;
};

struct PolicyRow {
  std::string name, summary, objective;
  SOUK_FIELDS(PolicyRow, name, summary, objective)
};

Result<> list_policies(const Context& c) {
  std::vector<PolicyRow> rows;
  for (const auto& p : mechanism::schedule_policies())
    rows.push_back({std::string(p.name), std::string(p.summary), std::string(p.objective)});
  if (c.json()) return c.print_json(fmt::format(R"({{"items":{}}})", wire::to_json(rows)));
  for (const auto& row : rows)
    c.print(fmt::format("{}\n  {}\n  {}\n", paint(row.name, Tone::strong, c.out()),
                        wrapped(row.summary, 2, text_width(c.out())),
                        wrapped(row.objective, 2, text_width(c.out()))));
  return {};
}

std::string short_number(double v) { return fmt::format("{:.6g}", v < 1e-7 ? 0 : v); }

void show_schedule(const Context& c, const mechanism::ScheduleEntry& policy,
                   const mechanism::ScheduleInstance& instance,
                   const mechanism::Schedule& schedule) {
  using enum Column::Align;
  std::vector<Column> columns{{"job", right}, {"workers", right, 0, 1}, {"steps/s", right}};
  for (std::size_t j = 0; j < instance.types(); ++j)
    columns.push_back({fmt::format("type {}", j), right});
  Table table(columns);
  const auto speeds = mechanism::speeds(instance, schedule);
  for (std::size_t i = 0; i < instance.jobs(); ++i) {
    std::vector<Cell> row{std::to_string(i), short_number(instance.scale[i]),
                          short_number(speeds[i])};
    for (std::size_t j = 0; j < instance.types(); ++j)
      row.emplace_back(short_number(schedule.shares[i * instance.types() + j]));
    table.add(std::move(row));
  }
  const auto used = mechanism::machines_used(instance, schedule.shares);
  std::vector<Cell> in_use{"used", "", ""}, prices{"price", "", ""};
  for (std::size_t j = 0; j < instance.types(); ++j) {
    in_use.emplace_back(
        fmt::format("{} of {}", short_number(used[j]), short_number(instance.capacity[j])));
    prices.emplace_back(short_number(schedule.prices[j]));
  }
  table.add(std::move(in_use));
  table.add(std::move(prices));
  c.print(table);
  c.print(fmt::format("{}: {:.9g} ({})\n", policy.name, schedule.objective, policy.objective));
  if (schedule.at_once) c.print("shares are of a job's workers, all at once\n");
  if (schedule.gap() > mechanism::kExact)
    c.print(fmt::format("the best there is may be up to {:.2g}% better\n", 100 * schedule.gap()));
}

Result<> schedule(Context& c, const ScheduleFlags& o) {
  if (o.list) return list_policies(c);
  SOUK_ASSIGN(const auto* policy, mechanism::find_schedule_policy(o.policy));
  if (o.instance.empty())
    return usage("`souk schedule` needs an --instance",
                 R"(a file like {"throughputs":[[2,1],[3,2]],"capacity":[1,2]})");
  SOUK_ASSIGN(const auto text, base::read_file(o.instance, "--instance takes a file with JSON"));
  SOUK_ASSIGN(const auto instance, base::located(lab::read_schedule_instance(text), o.instance));
  SOUK_ASSIGN(const auto found, policy->policy.solve(instance));
  if (c.json()) return c.print_json(lab::schedule_json(*policy, instance, found));
  show_schedule(c, *policy, instance, found);
  return {};
}

}  // namespace

Command schedule_command() {
  auto o = std::make_shared<ScheduleFlags>();
  Command out{.name = "schedule",
              .summary = "share machines of several types among jobs, from a file",
              .examples = {"schedule --list", "schedule --policy max-min --instance jobs.json",
                           "schedule --policy makespan --instance jobs.json --json"},
              .common = Common::local};
  out.options = {flag("--policy NAME", "default max-min", o->policy),
                 flag("--instance FILE", "the jobs and machines, as JSON", o->instance),
                 flag("--list", "the policies and what they optimise", o->list)};
  out.details =
      "The instance: {\"throughputs\":[[2,1,0.5],[3,2,1]],\"capacity\":[1,2,3],\"scale\":[1,1],"
      "\"weights\":[1,1]}, a row of steps per second on each type for each job; for some policies "
      "also steps, done, elapsed, isolated, slo, cost, held. docs/scheduling.md has the rest.";
  out.run = [o](Context& c) { return schedule(c, *o); };
  return out;
}

}  // namespace souk::cli
