#include "cli/commands/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "cli/commands/job_flags.h"
#include "cli/commands/sweep_picture.h"
#include "cli/shell/human.h"
#include "cli/shell/session.h"
#include "job/kinds.h"
#include "job/sweep/halving.h"
#include "wire/json.h"

namespace souk::cli {
namespace {

bool ended(const wire::SweepTrial& t) {
  return t.state == wire::TrialState::stopped || t.state == wire::TrialState::succeeded ||
         t.state == wire::TrialState::failed || t.state == wire::TrialState::cancelled;
}

Tone tone_of(wire::TrialState state) {
  switch (state) {
    case wire::TrialState::succeeded:
      return Tone::good;
    case wire::TrialState::failed:
      return Tone::bad;
    case wire::TrialState::stopped:
    case wire::TrialState::cancelled:
      return Tone::dim;
    default:
      return Tone::plain;
  }
}

std::string shown_value(const std::string& json) {
  return printable(wire::from_json<std::string>(json).value_or(json));
}

std::string settings_of(const wire::SweepTrial& t) {
  std::string out;
  for (const auto& [name, value] : t.parameters)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", printable(name), shown_value(value));
  return out;
}

std::string value_text(const wire::SweepTrial& t) {
  return t.value ? fmt::format("{:.6g}", *t.value) : "-";
}

}  // namespace

bool is_sweep(const wire::Job& job) {
  const auto* kind = job::find_kind(job.kind);
  return kind != nullptr && kind->sweeps;
}

Result<wire::SweepStatus> ask_sweep(Context& c, base::JobId job) {
  SOUK_ASSIGN(auto* api, c.api());
  return parsed<wire::SweepStatus>(api->get(path_of("/v1/jobs", to_string(job), "/sweep")));
}

std::string sweep_summary(const wire::SweepStatus& status) {
  const auto over = std::ranges::count_if(status.trials, ended);
  const auto stopped =
      std::ranges::count(status.trials, wire::TrialState::stopped, &wire::SweepTrial::state);
  auto out = fmt::format("{} of {} ended", over, plural(status.sweep.trials, "trial"));
  if (stopped > 0) out += fmt::format(", {} of them early", stopped);
  const auto best = std::ranges::find(status.trials, status.best,
                                      [](const auto& t) { return std::optional(t.number); });
  if (status.best && best != status.trials.end())
    out += fmt::format("; best: trial {} with {} {} ({})", best->number,
                       printable(status.sweep.metric), value_text(*best), settings_of(*best));
  return out;
}

void show_trials(const Context& c, const wire::SweepStatus& status) {
  if (status.trials.empty()) return c.print("no trial has begun yet\n");
  using enum Column::Align;
  std::vector<Column> columns{{"trial", right}, {"job"}, {"state"}};
  for (const auto& [name, parameter] : status.sweep.parameters)
    columns.push_back({printable(name), right});
  columns.insert(columns.end(), {{"epoch", right},
                                 {printable(status.sweep.metric), right},
                                 {"credits", right, 0, 1},
                                 {"reason", left, 8, 2}});
  Table table(columns);
  auto rows = status.trials;
  std::ranges::sort(rows, [&](const auto& a, const auto& b) {
    return a.value == b.value ? a.number < b.number
                              : job::is_better(status.sweep, a.value, b.value);
  });
  for (const auto& t : rows) {
    std::vector<Cell> row{
        status.best == t.number ? Cell(fmt::format("* {}", t.number), Tone::strong)
                                : Cell(std::to_string(t.number)),
        to_string(t.job), Cell(std::string(to_string(t.state)), tone_of(t.state))};
    for (const auto& [name, parameter] : status.sweep.parameters) {
      const auto it = t.parameters.find(name);
      row.emplace_back(it == t.parameters.end() ? "" : shown_value(it->second));
    }
    row.emplace_back(std::to_string(t.epoch));
    row.emplace_back(value_text(t));
    row.emplace_back(brief(t.spent));
    row.emplace_back(printable(t.reason));
    table.add(std::move(row));
  }
  c.print(table);
}

void show_sweep_plan(const Context& c, const wire::PlanSweep& plan) {
  c.print(fmt::format("the sweep: {}, {} at a time, never more than {} credits in all\n",
                      plural(plan.trials, "trial"), plan.parallel, brief(plan.most)));
  if (plan.cost && plan.time)
    c.print(fmt::format("if every trial ran to its end: about {} credits and {}\n",
                        brief(*plan.cost), rough(*plan.time)));
}

Result<> SweepWatch::step(Context& c, const wire::Job& job, std::optional<Progress>& progress) {
  SOUK_ASSIGN(const auto status, ask_sweep(c, job.id));
  if (c.json()) return {};
  for (const auto& t : status.trials)
    if (ended(t) && told_.insert(t.number).second)
      c.note(fmt::format("trial {} ({}): {} after {}, {} {}, {} credits: {}", t.number,
                         to_string(t.job), to_string(t.state), plural(t.epoch, "epoch"),
                         printable(status.sweep.metric), value_text(t), brief(t.spent),
                         settings_of(t)));
  if (!progress) return {};
  progress->say(sweep_summary(status));
  progress->update(100 * static_cast<std::uint64_t>(told_.size()) /
                   static_cast<std::uint64_t>(std::max(1, status.sweep.trials)));
  return {};
}

Result<> write_sweep(Context& c, const wire::SweepStatus& status, const std::string& folder) {
  const std::initializer_list<std::pair<std::string_view, std::string>> files{
      {"sweep.csv", sweep_csv(status)},
      {"sweep.json", wire::to_json(status) + "\n"},
      {"sweep.svg", sweep_svg(status)}};
  for (const auto& [name, text] : files) {
    if (text.empty()) continue;
    const auto path = fmt::format("{}/{}", folder, name);
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) return failed(fmt::format("cannot write {}", path));
    if (!c.json()) c.print(path + "\n");
  }
  return {};
}

Command trials_command() {
  auto o = std::make_shared<OneJob>();
  Command out{.name = "trials",
              .summary = "the trials of a sweep, the best first",
              .examples = {"job trials j1", "job trials j1 --json"}};
  out.options = {job_argument(*o, "the sweep's id")};
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get(o->path("/sweep")));
    return c.show<wire::SweepStatus>(body, [&](const wire::SweepStatus& status) {
      show_trials(c, status);
      c.print(sweep_summary(status) + "\n");
    });
  };
  return out;
}

}  // namespace souk::cli
