#include "cli/plan/plan_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <expected>
#include <thread>

#include "base/text.h"
#include "cli/shell/human.h"
#include "cli/shell/progress.h"
#include "wire/json.h"

namespace souk::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kEnoughUnits = 5;
constexpr auto kEnoughTime = base::seconds(15);
constexpr auto kLongest = base::seconds(60);      // Of training,
constexpr auto kLongestWait = base::minutes(10);  // and of waiting for a machine.
constexpr auto kToLearn = base::seconds(10);

std::string range(const std::string& low, const std::string& high) {
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::int64_t units_of(const wire::Training& t) {
  std::int64_t out = 0;
  for (const auto& w : t.by_worker) out += w.units;
  return out;
}

bool measured(const wire::Training& t) {
  return t.state == wire::TrainingState::finished || t.elapsed >= kLongest ||
         (units_of(t) >= kEnoughUnits && t.elapsed >= kEnoughTime);
}

// Until enough is known of its pace.
Result<> follow_plan(Context& c, const std::string& path) {
  SOUK_ASSIGN(auto* api, c.api());
  Progress progress("waiting for a machine", "s", kLongest.us / 1'000'000, c.err());
  for (const auto start = c.now(); c.now() - start < kLongestWait;
       std::this_thread::sleep_for(500ms)) {
    SOUK_ASSIGN(const auto job, parsed<wire::Job>(api->get(path)));
    if (job.ended) return {};
    SOUK_ASSIGN(const auto training, parsed<wire::Training>(api->get(path + "/training")));
    if (measured(training)) return {};
    if (training.elapsed > base::Duration()) progress.say("measuring");
    progress.update(static_cast<std::uint64_t>(training.elapsed.us / 1'000'000));
  }
  return failed("no machine was free to measure the job on", "souk why shows what is in the way");
}

// "compute 81%, upload 12%, ..."; empty where nothing was spent.
std::string shares(const wire::TimeSpent& spent) {
  std::int64_t all = 0;
  for (const auto part : wire::kTimeParts) all += (spent.*part).us;
  if (all == 0) return "";
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::size(wire::kTimeParts); ++i) {
    const auto share =
        static_cast<double>((spent.*wire::kTimeParts[i]).us) / static_cast<double>(all);
    if (share >= 0.005)
      parts.push_back(fmt::format("{} {}", wire::TimeSpent::souk_field_names[i], percent(share)));
  }
  return base::join(parts, ", ");
}

void show_measures(const Context& c, const wire::PlanMeasures& m) {
  std::vector<std::string> parts;
  for (const auto& b : m.steps)
    if (b.steps > 0)
      parts.push_back(fmt::format("{:.3g} ms with a batch of {}",
                                  1e3 * b.compute.seconds() / static_cast<double>(b.steps),
                                  b.batch));
  if (!parts.empty()) c.print(fmt::format("a step computes {}\n", base::join(parts, ", ")));
  parts.clear();
  if (m.unit_bytes > 0)
    parts.push_back(fmt::format("a unit moves {}, {:.3g} Mbps a worker",
                                base::bytes_text(static_cast<std::uint64_t>(m.unit_bytes)),
                                m.mbps));
  if (m.memory_bytes > 0)
    parts.push_back(fmt::format("up to {} of memory",
                                base::bytes_text(static_cast<std::uint64_t>(m.memory_bytes))));
  if (m.folds_per_s > 0)
    parts.push_back(fmt::format("the hub could fold {:.0f} units/s", m.folds_per_s));
  if (!parts.empty()) c.print(base::join(parts, "; ") + "\n");
  if (const auto time = shares(m.spent); !time.empty()) c.print("time: " + time + "\n");
}

// "41s (30s to 55s), 0.2 credits (0.15 to 0.25) with 2 workers at about 0.5 per slot-hour".
std::string quote_text(const wire::JobQuote& q) {
  auto out = fmt::format("{} ({}), {} credits ({}) with {}", rough(q.time),
                         range(rough(q.time_low), rough(q.time_high)), brief(q.cost),
                         range(brief(q.cost_low), brief(q.cost_high)), plural(q.workers, "worker"));
  if (q.price) out += fmt::format(" at about {} per slot-hour", brief(*q.price));
  return out;
}

std::string rests_on(const wire::JobQuote& q) {
  switch (q.method) {
    case wire::QuoteMethod::runs:
      return "from " + plural(q.runs, "run") + " of this kind";
    case wire::QuoteMethod::similar:
      return "rough: from " + plural(q.runs, "run") + " of a training like it";
    case wire::QuoteMethod::guess:
      return "a guess: nothing like it has run here";
    case wire::QuoteMethod::parts:
      return "from " + plural(q.runs, "part") + " of its own";
  }
  return "";
}

// What was short is told to the tenth.
std::string measured_time(base::Duration d) {
  return d < base::seconds(10) ? fmt::format("{:.1f}s", d.seconds()) : rough(d);
}

// "time as quoted, cost less than quoted".
std::string beside_quote(const wire::JobActual& a, const wire::JobQuote& q) {
  const auto verdict = [&](auto is, auto low, auto high) -> std::string_view {
    if (is > high) return "more than quoted";
    if (!a.over) return "so far";
    return is < low ? "less than quoted" : "as quoted";
  };
  return fmt::format("time {}, cost {}", verdict(a.time, q.time_low, q.time_high),
                     verdict(a.cost, q.cost_low, q.cost_high));
}

}  // namespace

void show_prices(const Context& c, const wire::JobPlan& plan) {
  for (const auto& p : plan.prices) {
    const auto of = plan.prices.size() > 1 ? printable(p.class_) + ": " : std::string();
    c.note(fmt::format("{}suggested {}, {}, your limit {}{}", of, brief(p.suggested),
                       p.cheapest ? "cheapest ask that fits " + brief(*p.cheapest)
                                  : std::string("no offer that fits"),
                       brief(p.limit),
                       p.limit_given ? "" : " (you set none: twice the suggested)"));
    if (p.pays)
      c.note(fmt::format("{}you would pay {} per slot-hour now, for {}", of, brief(*p.pays),
                         plural(p.workers, "worker")));
    else if (p.enough)
      c.note(fmt::format("{}your limit is below every ask: --price {} would be enough", of,
                         to_string(*p.enough)));
    else if (p.cheapest || !plan.elsewhere)
      c.note(fmt::format(
          "{}{}: the job would wait", of,
          p.cheapest ? "other waiting jobs bid more now" : "no machine that fits is free now"));
  }
  if (plan.elsewhere) c.note(printable(*plan.elsewhere));
}

Result<wire::JobPlan> ask_plan(Context& c, const wire::NewJob& job) {
  SOUK_ASSIGN(auto* api, c.api());
  return parsed<wire::JobPlan>(api->post("/v1/plan", wire::to_json(job)));
}

void show_plan(const Context& c, const wire::JobPlan& plan) {
  using enum Column::Align;
  if (plan.candidates.empty()) return c.print(fmt::format("no forecast: {}\n", plan.why));
  const bool deadline = plan.candidates.front().chance.has_value();
  const auto* between = plan.guessed ? "a guess" : "8 in 10 runs";
  std::vector<Column> columns{{""},
                              {"workers", right},
                              {"cluster", left, 12, 3},
                              {"time", right},
                              {between, right, 0, 1},
                              {"credits", right},
                              {between, right, 0, 1},
                              {"limited by", left, 0, 2}};
  if (deadline) columns.insert(columns.end() - 1, {"in time", right});
  const bool classes = std::ranges::any_of(
      plan.candidates, [&](const auto& p) { return p.class_ != plan.candidates.front().class_; });
  if (classes) columns.insert(columns.begin() + 1, {"class"});
  Table table(columns);
  for (const auto& p : plan.candidates) {
    std::vector<Cell> row{p.chosen ? Cell("*", Tone::strong) : Cell(""),
                          std::to_string(p.workers),
                          printable(p.cluster),
                          rough(p.time),
                          range(rough(p.time_low), rough(p.time_high)),
                          brief(p.cost),
                          range(brief(p.cost_low), brief(p.cost_high)),
                          word(p.limit)};
    if (deadline) row.insert(row.end() - 1, percent(p.chance, 0));
    if (classes) row.insert(row.begin() + 1, printable(p.class_));
    table.add(std::move(row));
  }
  c.print(table);
  const bool chosen = std::ranges::any_of(plan.candidates, &wire::PlanCandidate::chosen);
  c.print(fmt::format("{}{}\n", chosen ? "* is " : "", plan.why));
  if (plan.method != wire::QuoteMethod::runs)
    c.print(fmt::format("{}, so the ranges are wide\n",
                        rests_on({.method = plan.method, .runs = plan.runs})));
  else if (plan.guessed)
    c.print(fmt::format("the ranges are a guess so far, based on {} of this kind\n",
                        plural(plan.runs, "run")));
  if (plan.measures && plan.measures->longer != 0)
    c.print(fmt::format("earlier runs took {} {} than computed, which is included\n",
                        percent(std::abs(plan.measures->longer)),
                        plan.measures->longer > 0 ? "more" : "less"));
  if (plan.target_after)
    c.print(fmt::format("the target is expected after {} of the epochs\n",
                        percent(*plan.target_after)));
  if (plan.measures) show_measures(c, *plan.measures);
}

Result<> measure_job(Context& c, wire::NewJob job) {
  job.name = ("profile of " + (job.name.empty() ? std::string("a job") : job.name)).substr(0, 40);
  job.workers = {1, 1};
  if (job.batch && job.batch->train) {
    job.batch->train->measure = true;
    job.batch->train->target.reset();  // It would end before anything is known.
  }
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto made, parsed<wire::Job>(api->post("/v1/jobs", wire::to_json(job))));
  const auto path = path_of("/v1/jobs", to_string(made.id));
  const auto followed = follow_plan(c, path);
  // It may end by itself between a look and the cancel, which is then refused.
  const auto cancelled =
      api->post(path + "/cancel", wire::to_json(wire::Cancel{"it was measured"}));
  if (!cancelled) {
    SOUK_ASSIGN(const auto now, parsed<wire::Job>(api->get(path)));
    if (!now.ended) return std::unexpected(cancelled.error());
  }
  SOUK_TRY(followed);
  // The market learns from it once its worker has left.
  for (const auto start = c.now(); c.now() - start < kToLearn; std::this_thread::sleep_for(200ms)) {
    SOUK_ASSIGN(const auto plan, ask_plan(c, job));
    if (plan.profiled) return {};
  }
  return failed("the job ended before its speed could be measured",
                fmt::format("souk logs {} shows what happened", to_string(made.id)));
}

void show_forecast(const Context& c, const wire::Job& job) {
  if (job.classes)
    c.print(fmt::format("  classes   {}\n", printable(base::join(*job.classes, ", "))));
  for (const auto& m : job.moves.value_or(std::vector<wire::JobMove>{}))
    c.print(fmt::format("  moved     {} from {} to {}: {}\n", relative(m.at, c.now()),
                        printable(m.from), printable(m.to), printable(m.why)));
  if (job.planned)
    c.print(fmt::format("  planned   {}: {}\n", plural(*job.planned, "worker"),
                        printable(job.planned_why.value_or(""))));
  if (job.quoted)
    c.print(fmt::format("  quoted    {}; {}\n", quote_text(*job.quoted), rests_on(*job.quoted)));
  if (job.estimate)
    c.print(
        fmt::format("  expected  {}; {}\n", quote_text(*job.estimate), rests_on(*job.estimate)));
  if (job.actual)
    c.print(fmt::format("  actual    {}, {} credits{}\n", measured_time(job.actual->time),
                        brief(job.actual->cost),
                        job.quoted ? ": " + beside_quote(*job.actual, *job.quoted)
                                   : (job.actual->over ? "" : " so far")));
}

void show_outcome(const Context& c, const wire::Job& job, const wire::Training& training) {
  if (job.ended && job.quoted && training.progress > 0 && training.progress < 1)
    c.print(fmt::format("  did       {} of the epochs\n", percent(training.progress)));
  if (const auto time = shares(training.spent); !time.empty())
    c.print(fmt::format("  time      {}\n", time));
}

}  // namespace souk::cli
