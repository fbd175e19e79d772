#include <fmt/format.h>

#include <cmath>
#include <span>

#include "advisor/planners/exact.h"
#include "advisor/planners/recommend.h"
#include "advisor/planners/spotdnn.h"
#include "base/file.h"
#include "cli/plan/plan.h"
#include "cli/shell/human.h"
#include "lab/files/plan_files.h"
#include "lab/files/price_file.h"
#include "wire/json.h"

// Mixes of machines of different types (spotDNN's model).

namespace souk::cli {
namespace {

using advisor::Forecast;
using advisor::Forecaster;
using advisor::Interval;
using advisor::Mix;

Result<advisor::Goal> work_of(const PlanFlags& f, const lab::ProfileFile& file) {
  const int given = (f.loss ? 1 : 0) + (f.samples ? 1 : 0) + (f.iterations ? 1 : 0);
  if (given != 1)
    return usage(given == 0 ? "nothing is to be done" : "the work is given more than once",
                 "give one of --loss, --samples, --iterations");
  if (f.samples) return advisor::Samples{*f.samples};
  if (f.iterations) return advisor::Iterations{*f.iterations};
  if (!file.curve)
    return usage(fmt::format("{} has no loss curve", f.profile),
                 "add \"loss\" with gamma1 to gamma5, or give --samples or --iterations");
  return advisor::TargetLoss{*f.loss, *file.curve};
}

// A problem, and whose prices are in it, where they are not the profile's.
struct Posed {
  advisor::Problem problem;
  std::optional<advisor::PriceCatalog> prices;
};

Result<> take_prices(const Context& c, const PlanFlags& f, Posed& posed) {
  if (f.prices.empty()) {
    if (f.buy) return usage("--buy needs --prices", "a profile has one price for each type");
    return {};
  }
  SOUK_ASSIGN(const auto text, base::read_file(f.prices, "docs/planning.md shows such a file"));
  SOUK_ASSIGN(posed.prices, lab::parse_prices(text, f.prices));
  SOUK_ASSIGN(auto priced, advisor::priced(posed.problem.types, *posed.prices,
                                           f.buy.value_or(BuyFlag{advisor::Buy::both}).way));
  for (const auto& remark : priced.remarks) c.note(remark);
  note_age(c, *posed.prices);
  posed.problem.types = std::move(priced.types);
  return {};
}

Result<Posed> problem_of(const Context& c, const PlanFlags& f) {
  if (f.profile.empty())
    return usage(fmt::format("{} needs a --profile", f.algorithm),
                 "a file with machine types and the model; docs/planning.md shows one");
  SOUK_ASSIGN(const auto text, base::read_file(f.profile, "docs/planning.md shows such a file"));
  SOUK_ASSIGN(const auto file,
              lab::parse_profile(text, f.profile,
                                 f.prices.empty() ? lab::Prices::inside : lab::Prices::elsewhere));
  Posed out{.problem = file.problem};
  SOUK_ASSIGN(out.problem.work, work_of(f, file));
  if (f.server_price) out.problem.hub.price = *f.server_price;
  SOUK_TRY(take_prices(c, f, out));
  return out;
}

// --- Text and JSON of forecasts ---------------------------------------------------------------

std::string time_text(double seconds) { return rough(base::as_duration(seconds)); }
std::string range_text(const Interval& i, std::string (*text)(double)) {
  return fmt::format("{} ({} to {})", text(i.expected), text(i.low), text(i.high));
}
std::string credits_text(double credits) { return fmt::format("{:.4f}", credits); }

std::string limit_text(advisor::Bottleneck limit) {
  switch (limit) {
    case advisor::Bottleneck::compute:
      return "computing";
    case advisor::Bottleneck::network:
      return "the hub's network";
    case advisor::Bottleneck::hub:
      return "folds of the hub";
  }
  return {};
}

double rounded(double value, double places) {
  const auto scale = std::pow(10, places);
  return std::round(value * scale) / scale;
}

struct Range {
  double low = 0, expected = 0, high = 0;
  SOUK_FIELDS(Range, low, expected, high)
};
Range range_of(const Interval& i, double places) {
  return {rounded(i.low, places), rounded(i.expected, places), rounded(i.high, places)};
}

std::vector<std::string> names_of(const advisor::Problem& problem) {
  std::vector<std::string> out;
  for (const auto& type : problem.types) out.push_back(type.name);
  return out;
}

struct MixPlan {
  Mix plan;
  double time_s = 0, cost = 0;
  std::int64_t iterations = 0;
  std::optional<double> cost_with_server;
  std::optional<bool> proved;                     // Said where it is not.
  std::optional<std::vector<std::string>> types;  // Said where they are not the profile's.
  std::optional<PricesUsed> prices;
  SOUK_FIELDS(MixPlan, plan, time_s, cost, iterations, cost_with_server, proved, types, prices)
};

struct FrontPlan {
  Mix plan;
  Range time_s, cost;
  std::optional<Range> cost_with_server;
  std::optional<double> chance;
  double revocations = 0;
  std::int64_t iterations = 0;
  advisor::Bottleneck limit{};
  bool guessed = false;
  SOUK_FIELDS(FrontPlan, plan, time_s, cost, cost_with_server, chance, revocations, iterations,
              limit, guessed)
};

struct FrontPlans {
  std::vector<std::string> types;
  std::vector<FrontPlan> plans;
  std::size_t chosen = 0;
  std::string why;
  double mixes = 0;
  bool complete = true;
  std::optional<PricesUsed> prices;
  SOUK_FIELDS(FrontPlans, types, plans, chosen, why, mixes, complete, prices)
};

// One row per plan, the chosen one marked.
void show_mix(const Context& c, const advisor::Problem& problem, std::span<const Forecast> plans,
              std::size_t chosen) {
  using enum Column::Align;
  const bool server = problem.hub.price > base::Credits();
  const bool chance = plans.front().chance.has_value();
  std::vector<Column> columns{{""}, {"cluster", left, 20}, {"time"}, {"cost"}};
  if (server) columns.push_back({"with server"});
  if (chance) columns.push_back({"in time", right});
  columns.push_back({"limit", left, 0, 1});
  Table table(columns);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto& p = plans[i];
    std::vector<Cell> row{
        i == chosen ? "*" : "",
        Cell(describe(p.mix, problem.types), i == chosen ? Tone::strong : Tone::plain),
        range_text(p.time_s, &time_text), range_text(p.cost, &credits_text)};
    if (server) row.emplace_back(range_text(p.cost_with_hub, &credits_text));
    if (chance) row.emplace_back(fmt::format("{:.0f}%", 100 * *p.chance));
    row.emplace_back(limit_text(p.limit));
    table.add(std::move(row));
  }
  c.print(table);
  if (plans[chosen].guessed)
    c.note("intervals are mostly a guess of 25% either way: too few residuals of earlier runs");
}

void say(const Context& c, const std::string& sentence) {
  c.print(wrapped(sentence, 0, text_width(c.out())) + "\n");
}

// --- One plan ---------------------------------------------------------------------------------

struct SearchResult {
  Mix mix;
  bool proved = true;
  std::string why;
};

Result<SearchResult> search(const PlanFlags& f, const Forecaster& forecaster) {
  if (f.algorithm == "spotdnn") {
    SOUK_ASSIGN(auto mix, advisor::spotdnn(forecaster, f.time->s));
    return SearchResult{
        std::move(mix), true,
        "the cheapest window of machines sorted by speed that is done in time; `exact` "
        "looks at all mixes"};
  }
  SOUK_ASSIGN(auto plan, advisor::cheapest_plan(forecaster, f.time->s));
  auto why =
      plan.proved
          ? fmt::format("the cheapest of all mixes that is done in time, proved in {}",
                        plural(static_cast<std::int64_t>(plan.nodes), "node"))
          : fmt::format("the cheapest found in {} nodes; there may be a cheaper one", plan.nodes);
  return SearchResult{std::move(plan.mix), plan.proved, std::move(why)};
}

Result<> plan_one(Context& c, const PlanFlags& f) {
  if (!f.time)
    return usage(fmt::format("{} needs a --time", f.algorithm),
                 "the deadline in seconds, or as 1h30m; pareto goes without");
  if (f.budget || f.confidence || f.most)
    return usage(fmt::format("{} takes no {}", f.algorithm,
                             f.budget       ? "--budget"
                             : f.confidence ? "--confidence"
                                            : "--most"),
                 "pareto does");
  SOUK_ASSIGN(const auto posed, problem_of(c, f));
  const auto& problem = posed.problem;
  SOUK_ASSIGN(const auto forecaster, Forecaster::make(problem));
  SOUK_ASSIGN(const auto found, search(f, forecaster));
  const auto plan = forecaster.forecast(found.mix, f.time->s);
  if (c.json()) {
    MixPlan out{.plan = found.mix,
                .time_s = rounded(plan.estimate.time_s, 2),
                .cost = rounded(plan.estimate.cost, 4),
                .iterations = std::llround(plan.estimate.iterations)};
    if (problem.hub.price > base::Credits())
      out.cost_with_server = rounded(plan.cost_with_hub.expected, 4);
    if (!found.proved) out.proved = false;
    if (posed.prices) {
      out.types = names_of(problem);
      out.prices = prices_used(*posed.prices);
    }
    return c.print_json(wire::to_json(out));
  }
  show_mix(c, problem, {&plan, 1}, 0);
  say(c,
      fmt::format("{}: {}. {} iterations; time and cost are the expected ones, and in {:.0f}% of "
                  "runs within the brackets.",
                  f.algorithm, found.why, plan.estimate.iterations, 100 * problem.level));
  if (posed.prices) c.print(prices_line(*posed.prices));
  return {};
}

// --- A front of plans -------------------------------------------------------------------------

FrontPlans json_of(const Posed& posed, const advisor::Plans& plans) {
  const auto& problem = posed.problem;
  FrontPlans out{.types = names_of(problem),
                 .chosen = plans.chosen,
                 .why = plans.why,
                 .mixes = plans.mixes,
                 .complete = plans.complete};
  if (posed.prices) out.prices = prices_used(*posed.prices);
  for (const auto& p : plans.candidates) {
    FrontPlan row{.plan = p.mix,
                  .time_s = range_of(p.time_s, 2),
                  .cost = range_of(p.cost, 4),
                  .revocations = rounded(p.revocations, 2),
                  .iterations = std::llround(p.estimate.iterations),
                  .limit = p.limit,
                  .guessed = p.guessed};
    if (problem.hub.price > base::Credits()) row.cost_with_server = range_of(p.cost_with_hub, 4);
    if (p.chance) row.chance = rounded(*p.chance, 3);
    out.plans.push_back(std::move(row));
  }
  return out;
}

Result<> plan_front(Context& c, const PlanFlags& f) {
  advisor::Request request;
  SOUK_ASSIGN(const auto posed, problem_of(c, f));
  request.problem = posed.problem;
  if (f.budget) request.budget = in_credits(*f.budget);
  if (f.time) request.deadline_s = f.time->s;
  if (f.confidence) request.confidence = *f.confidence;
  if (f.most) request.most = *f.most;
  SOUK_ASSIGN(const auto plans, advisor::recommend(request));
  if (c.json()) return c.print_json(wire::to_json(json_of(posed, plans)));
  show_mix(c, posed.problem, plans.candidates, plans.chosen);
  say(c, fmt::format("* is chosen: {}. {} of {:.0f} mixes {} shown; brackets hold {:.0f}% of runs.",
                     plans.why, plans.candidates.size(), plans.mixes,
                     plans.candidates.size() == 1 ? "is" : "are", 100 * posed.problem.level));
  if (posed.prices) c.print(prices_line(*posed.prices));
  return {};
}

}  // namespace

Result<> plan_mix(Context& c, const PlanFlags& f) {
  return f.algorithm == "pareto" ? plan_front(c, f) : plan_one(c, f);
}

}  // namespace souk::cli
