#include "server/lab/lab_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "journal/open.h"
#include "lab/files/scenario.h"
#include "lab/report/report.h"
#include "lab/worlds/experiment.h"
#include "lab/worlds/population.h"
#include "market/state.h"
#include "server/http/embedded.h"
#include "server/http/version.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;
using lab::Scenario;

constexpr auto& kLimits = kLabTaskLimits;
constexpr std::size_t kMostText = 64 << 10;
constexpr std::size_t kMostName = 100;
constexpr double kMostDepartures = 200'000;  // Of machines, in one run.
constexpr double kMostUnits = 10'000;        // Of one agent.
constexpr std::int32_t kMostTried = 256;     // Books, traders and prices of a search for regret.
constexpr std::int64_t kMostDays = 3'650;
constexpr const char* kScenarioFile = "scenario";  // Its name in messages: "scenario:3: ...".

base::Failure too_large(std::string what, double most) {
  return fail(Code::too_large, std::move(what),
              fmt::format("{:.0f} at most on this server; `souk lab run` on a computer of yours "
                          "has no limit",
                          most),
              "scenario");
}

Result<> check_count(std::string_view what, double count, double most) {
  if (count <= most) return {};
  return too_large(fmt::format("{:.0f} {}", count, what), most);
}

// Whatever would read a file or start a program.
Result<> check_reach(const std::vector<lab::MechanismChoice>& mechanisms) {
  for (const auto& m : mechanisms)
    if (m.name == market::kExternal)
      return fail(Code::invalid, "this server starts no program of a scenario's",
                  "use a built-in mechanism here, or `souk lab run` on a computer of yours",
                  "mechanisms");
  return {};
}

Result<> check_reach(const Scenario& s) {
  SOUK_TRY(check_reach(s.mechanisms));
  for (const auto& p : s.borrowers)
    if (p.trace)
      return fail(
          Code::invalid,
          fmt::format("'{}' takes its jobs from a file, and this server opens none", p.name),
          "use arrivals here, or `souk lab run` on a computer of yours", "scenario");
  return {};
}

double agents_of(const Scenario& s) {
  double out = 0;
  for (const auto* side : {&s.lenders, &s.borrowers})
    for (const auto& p : *side) out += p.count;
  return out;
}

Result<> check_agents(const Scenario& s) {
  SOUK_TRY(check_count("agents", agents_of(s), static_cast<double>(kLimits.agents)));
  for (const auto* side : {&s.lenders, &s.borrowers})
    for (const auto& p : *side)
      if (!(p.units.high() <= kMostUnits))
        return too_large(fmt::format("'{}' has agents of {:.0f} units", p.name, p.units.high()),
                         kMostUnits);
  return {};
}

Result<> check_book(const Scenario& s) {
  const auto rounds = static_cast<double>(s.periods) * s.rounds;
  const auto runs = static_cast<double>(s.seeds.size() * s.mechanisms.size());
  SOUK_TRY(check_count("prices named (agents x periods x rounds x seeds x mechanisms)",
                       agents_of(s) * rounds * runs, static_cast<double>(kLimits.prices)));
  return check_count("books, traders or prices of a search for regret",
                     std::max({s.regret.books, s.regret.traders, s.regret.prices}), kMostTried);
}

Result<> check_market(const Scenario& s) {
  const auto size = lab::draw_size(s);
  SOUK_TRY(check_count("jobs in one run", size.jobs, static_cast<double>(kLimits.jobs)));
  return check_count("departures of machines in one run", size.departures, kMostDepartures);
}

Result<> check_size(const Scenario& s) {
  SOUK_TRY(check_count("mechanisms", static_cast<double>(s.mechanisms.size()),
                       static_cast<double>(kLimits.mechanisms)));
  SOUK_TRY(check_count("seeds", static_cast<double>(s.seeds.size()),
                       static_cast<double>(kLimits.seeds)));
  SOUK_TRY(check_agents(s));
  return s.world == lab::World::book ? check_book(s) : check_market(s);
}

std::vector<std::string> labels(const std::vector<lab::MechanismChoice>& mechanisms) {
  std::vector<std::string> out;
  for (const auto& m : mechanisms) out.push_back(m.label);
  return out;
}

Result<LabResult> run_scenario(const Scenario& s, const lab::Watch& watch) {
  SOUK_ASSIGN(const auto runs,
              lab::run_experiment(s, {.threads = 1,
                                      .progress = watch.progress,
                                      .stop = watch.stop,
                                      .most_trades = static_cast<std::size_t>(kLimits.trades)}));
  LabResult out{.summary = lab::summarise(s, runs, kVersion),
                .comparisons = lab::comparisons(s, runs)};
  SOUK_TRY(watch.go_on(0));
  out.trades = lab::trades_csv(s, runs);
  SOUK_TRY(watch.go_on(0));
  SOUK_ASSIGN(const auto prices, lab::price_series(out.trades, "trades.csv"));
  out.report = lab::report_html(*out.summary, prices);
  return out;
}

Result<LabResult> run_replay(const std::string& journal, lab::Replay replay,
                             const lab::Watch& watch) {
  SOUK_ASSIGN(const auto opened, journal::open(journal, {.read_only = true}));
  const auto events = static_cast<double>(opened.journal->next() - 1);
  SOUK_TRY(lab::read_history(*opened.journal, replay, [&](std::uint64_t last) -> Result<> {
    watch.progress(static_cast<double>(last) / events);
    return watch.go_on(0);
  }));
  return LabResult{.replay = replay.result()};
}

}  // namespace

Result<LabTask> scenario_task(const wire::NewLabRun& body) {
  if (body.scenario.size() > kMostText)
    return fail(Code::too_large, fmt::format("the scenario has {} bytes", body.scenario.size()),
                fmt::format("{} at most on this server", kMostText), "scenario");
  auto parsed = lab::parse_scenario(body.scenario, kScenarioFile, "");
  if (!parsed) {
    auto error = std::move(parsed).error();
    error.field = "scenario";
    return std::unexpected(std::move(error));
  }
  auto scenario = *std::move(parsed);
  SOUK_TRY(lab::change(scenario, body.mechanisms, body.seeds));
  SOUK_TRY(check_reach(scenario));
  SOUK_TRY(check_size(scenario));
  LabTask out{.kind = wire::LabKind::scenario,
              .title = scenario.name.substr(0, kMostName),
              .mechanisms = labels(scenario.mechanisms),
              .seeds = std::ssize(scenario.seeds),
              .scenario = body.scenario};
  out.compute = [scenario = std::move(scenario)](const lab::Watch& watch) {
    return run_scenario(scenario, watch);
  };
  return out;
}

Result<LabTask> replay_task(const wire::NewLabReplay& body,
                            std::optional<market::ClassId> slot_class, base::Time now,
                            const std::string& journal) {
  if (journal.empty())
    return fail(Code::conflict, "this market is kept in memory: there is no history to replay",
                "start it with `souk serve --data FOLDER`");
  std::vector<lab::MechanismChoice> choices;
  for (const auto& text : body.mechanisms) {
    SOUK_ASSIGN(auto choice, lab::parse_mechanism(text, lab::World::market));
    choices.push_back(std::move(choice));
  }
  if (choices.empty() || std::ssize(choices) > kLimits.mechanisms)
    return fail(Code::invalid, fmt::format("{} mechanisms cannot be replayed", choices.size()),
                fmt::format("name 1 to {}", kLimits.mechanisms), "mechanisms");
  SOUK_TRY(check_reach(choices));
  if (body.days && (*body.days < 1 || *body.days > kMostDays))
    return fail(Code::invalid, fmt::format("the history cannot be {} days long", *body.days),
                fmt::format("use 1 to {}, or leave it out for all", kMostDays), "days");
  if (!(body.shading >= 0 && body.shading <= .9))
    return fail(Code::invalid, fmt::format("the shading cannot be {}", body.shading),
                "use 0 to 0.9", "shading");
  const lab::ReplayScope scope{slot_class, body.days ? now - base::days(*body.days) : base::Time()};
  LabTask out{.kind = wire::LabKind::replay,
              .title = fmt::format("replay of {}, {}", body.class_.value_or("all classes"),
                                   body.days ? fmt::format("{} days", *body.days) : "all history"),
              .mechanisms = labels(choices)};
  out.compute = [choices = std::move(choices), shading = body.shading, scope,
                 journal](const lab::Watch& watch) {
    return run_replay(journal, lab::Replay(choices, shading, scope), watch);
  };
  return out;
}

const std::vector<wire::LabScenario>& lab_scenarios() {
  static const auto all = [] {
    std::vector<wire::LabScenario> out;
    for (const auto& example : example_scenarios()) {
      const std::string text(example.text);
      const auto scenario = lab::parse_scenario(text, example.name, "");
      if (scenario && scenario_task({.scenario = text}))
        out.push_back({scenario->name, std::string(base::trim(scenario->description)), text});
    }
    return out;
  }();
  return all;
}

}  // namespace souk::server
