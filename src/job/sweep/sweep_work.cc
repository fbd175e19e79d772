#include "job/sweep/sweep_work.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/text.h"
#include "job/kinds.h"
#include "job/sweep/halving.h"
#include "job/train/training_file.h"
#include "job/train/training_target.h"
#include "market/limits.h"
#include "train/metrics.h"
#include "train/units/training_plan.h"
#include "wire/json.h"

namespace souk::job {
namespace {

using base::Code;
using base::Result;

constexpr std::size_t kMostName = 64, kMostText = 200;
constexpr double kMostWhole = 1e9;

base::Failure wrong_parameter(std::string message, std::string hint, std::string field) {
  return base::fail(Code::invalid, std::move(message), std::move(hint), std::move(field));
}

std::string field_of(std::string_view name) { return "parameters." + wire::printable_key(name); }

// --- One setting ---------------------------------------------------------------------------------

template <auto Member>
Result<> put(wire::Train& train, const std::string& json) {
  using T = std::remove_cvref_t<decltype(train.*Member)>;
  SOUK_ASSIGN(train.*Member, wire::from_json<T>(json));
  return {};
}

// The rate at the end keeps its proportion.
Result<> put_rate(wire::Train& train, const std::string& json) {
  SOUK_ASSIGN(const auto rate, wire::from_json<double>(json));
  if (train.lr_end && train.lr > 0) train.lr_end = *train.lr_end * rate / train.lr;
  train.lr = rate;
  return {};
}

Result<> put_rule(wire::Train& train, const std::string& json) {
  SOUK_ASSIGN(train.rule, wire::from_json<std::string>(json));
  return {};
}

Result<> put_local_state(wire::Train& train, const std::string& json) {
  SOUK_ASSIGN(train.local_state, wire::from_json<wire::LocalState>(json));
  return {};
}

Result<> put_model(wire::Train& train, const std::string& json) {
  SOUK_ASSIGN(const auto name, wire::from_json<std::string>(json));
  std::vector<std::string_view> names;
  for (const auto& model : models()) names.push_back(model.name);
  if (train.trainer != wire::Trainer::torch || std::ranges::find(names, name) == names.end())
    return base::fail(Code::invalid, "it is not a built-in model", base::suggest(name, names));
  train.config["model"] = json;
  return {};
}

struct TrainSetting {
  std::string_view name;
  Result<> (*set)(wire::Train& train, const std::string& json);
};

// Those that change nothing of the files, which are packed once for all trials.
constexpr std::array kSettings{
    TrainSetting{"lr", put_rate},
    TrainSetting{"batch", put<&wire::Train::batch>},
    TrainSetting{"local_batch", put<&wire::Train::local_batch>},
    TrainSetting{"local_steps", put<&wire::Train::local_steps>},
    TrainSetting{"local_state", put_local_state},
    TrainSetting{"epochs", put<&wire::Train::epochs>},
    TrainSetting{"seed", put<&wire::Train::seed>},
    TrainSetting{"codec", put<&wire::Train::codec>},
    TrainSetting{"rule", put_rule},
    TrainSetting{"replicate", put<&wire::Train::replicate>},
    TrainSetting{"model", put_model},
};
constexpr std::array<std::string_view, 4> kGroups{"rule.", "options.", "model.", "env."};

std::string plain_text(const std::string& json) {
  return wire::from_json<std::string>(json).value_or(json);
}

Result<> set_in_group(wire::Batch& work, std::string_view group, const std::string& key,
                      const std::string& json) {
  if (group == "env.") {
    work.env[key] = plain_text(json);
    return {};
  }
  if (group != "rule.") {
    work.train->config[key] = json;
    return {};
  }
  SOUK_ASSIGN(work.train->rule_params[key], wire::from_json<double>(json));
  return {};
}

Result<> set_of_training(wire::Batch& work, const std::string& name, const std::string& json) {
  for (const auto group : kGroups)
    if (name.starts_with(group) && name.size() > group.size())
      return set_in_group(work, group, name.substr(group.size()), json);
  const auto row = std::ranges::find(kSettings, name, &TrainSetting::name);
  if (row != kSettings.end()) return row->set(*work.train, json);
  std::vector<std::string_view> names;
  for (const auto& setting : kSettings) names.push_back(setting.name);
  const auto keys = training_keys();
  if (std::ranges::find(keys, name) != keys.end())
    return base::fail(Code::invalid, "it is the same for all trials, because files depend on it",
                      fmt::format("use {}, options.NAME, model.NAME, rule.NAME or env.NAME",
                                  fmt::join(names, ", ")));
  const auto near = base::nearest(name, names);
  return base::fail(Code::invalid, "it is no setting of a training",
                    near.empty() ? fmt::format("use {}, options.NAME, model.NAME, rule.NAME or "
                                               "env.NAME",
                                               fmt::join(names, ", "))
                                 : fmt::format("did you mean '{}'?", near));
}

// --- What is searched ----------------------------------------------------------------------------

Result<> check_range(const wire::SweepParameter& p, bool grid, const std::string& field) {
  if (!p.values.empty())
    return wrong_parameter("it has values and a range", "give one of them", field);
  if (!p.low || !p.high || !std::isfinite(*p.low) || !std::isfinite(*p.high) || *p.low >= *p.high)
    return wrong_parameter("its range has no room",
                           "give two numbers, the smaller first: [0.001, 0.1]", field);
  if (*p.scale == wire::SweepScale::log && *p.low <= 0)
    return wrong_parameter(
        fmt::format("it begins at {}, and a logarithm needs more than 0", *p.low),
        "use uniform, or begin above 0", field);
  if (*p.scale == wire::SweepScale::whole &&
      (std::abs(*p.low) > kMostWhole || std::abs(*p.high) > kMostWhole ||
       *p.low != std::round(*p.low) || *p.high != std::round(*p.high)))
    return wrong_parameter("its ends are not whole numbers",
                           fmt::format("use -{0} to {0}", kMostWhole), field);
  if (grid && !p.steps)
    return wrong_parameter("a grid needs to know how many values of it to try",
                           "add steps: {log: [0.001, 0.1], steps: 3}, or use method: random",
                           field);
  if (p.steps && (*p.steps < 1 || std::cmp_greater(*p.steps, kMostValues)))
    return wrong_parameter(fmt::format("steps is {}", *p.steps),
                           fmt::format("use 1 to {}", kMostValues), field);
  if (p.steps && !grid)
    return wrong_parameter("steps are of a grid", "drop it, or use method: grid", field);
  return {};
}

Result<> check_parameter(const std::string& name, const wire::SweepParameter& p, bool grid) {
  const auto field = field_of(name);
  if (name.empty() || name.size() > kMostName)
    return wrong_parameter("the name of a parameter is empty or too long",
                           fmt::format("use 1 to {} characters", kMostName), field);
  if (p.scale) return check_range(p, grid, field);
  if (p.low || p.high || p.steps)
    return wrong_parameter("it has a range without a scale", "use log, uniform or whole", field);
  if (p.values.empty() || p.values.size() > kMostValues)
    return wrong_parameter(fmt::format("it has {} values", p.values.size()),
                           fmt::format("use 1 to {}: [32, 64]", kMostValues), field);
  for (const auto& value : p.values) {
    const auto read = wire::parse(value);
    if (value.size() > kMostText || !read || read->is_object() || read->is_array())
      return wrong_parameter(
          fmt::format("'{}' is no number, word or yes or no", value.substr(0, 40)),
          "give plain values: [32, 64]", field);
  }
  return {};
}

Result<> check_numbers(const wire::Sweep& sweep) {
  const std::initializer_list<
      std::tuple<std::string_view, std::int64_t, std::int64_t, std::int64_t>>
      numbers{{"trials", sweep.trials, 1, market::kTrialsPerSweep},
              {"parallel", sweep.parallel, 1, market::kTrialsAtATime},
              {"min_epochs", sweep.min_epochs, 1, train::kMostEpochs},
              {"eta", sweep.eta, 2, 10}};
  for (const auto& [name, value, low, high] : numbers)
    if (value < low || value > high)
      return wrong_parameter(fmt::format("{} is {}", name, value),
                             fmt::format("use {} to {}", low, high), std::string(name));
  if (sweep.trial_budget && *sweep.trial_budget <= base::Credits())
    return wrong_parameter("trial_budget is not above 0",
                           "drop it: one budget holds for all trials", "trial_budget");
  return {};
}

Result<> check_count(const wire::Sweep& sweep) {
  const auto all = combinations(sweep);
  if (sweep.method == wire::SweepMethod::grid) {
    if (std::cmp_greater(all, market::kTrialsPerSweep))
      return wrong_parameter(
          fmt::format("the grid has {} combinations", all),
          fmt::format("{} at most; use fewer values, or method: random", market::kTrialsPerSweep),
          "parameters");
    if (all != sweep.trials)
      return wrong_parameter(
          fmt::format("trials is {}, and the grid has {} combinations", sweep.trials, all),
          "drop trials: a grid tries all of them, or use method: random", "trials");
  } else if (all > 0 && all < sweep.trials) {
    return wrong_parameter(
        fmt::format("there are {} combinations for {} trials", all, sweep.trials),
        fmt::format("use trials: {}, or method: grid", all), "trials");
  }
  return {};
}

// What is kept with a trial must fit, whatever it reports (market/decide/sweeps.cc).
Result<> check_note(const wire::Sweep& sweep) {
  constexpr auto most_epochs = std::numeric_limits<std::int32_t>::max();
  constexpr double long_value = -std::numeric_limits<double>::min();
  const auto length = [](const std::string& value) { return wire::to_json(value).size(); };
  wire::TrialNote note{
      .number = std::int32_t{market::kTrialsPerSweep}, .epoch = most_epochs, .value = long_value};
  for (const auto& [name, parameter] : sweep.parameters)
    note.parameters[name] = parameter.scale ? std::string("-1.23457e-308")
                                            : std::ranges::max(parameter.values, {}, length);
  if (sweep.method == wire::SweepMethod::asha)
    for (std::size_t rung = 0; rung_epochs(sweep, rung) <= most_epochs; ++rung)
      note.rungs.push_back({most_epochs, long_value, false});
  const auto bytes = wire::to_json(note).size();
  if (bytes <= market::kTextMax) return {};
  return wrong_parameter(
      fmt::format("the note of one trial may have {} bytes", bytes),
      fmt::format("{} at most: use fewer parameters, or shorter names and values",
                  market::kTextMax),
      "parameters");
}

Result<> check_metric(const wire::Sweep& sweep) {
  if (!train::valid_metric_name(sweep.metric))
    return wrong_parameter(sweep.metric.empty()
                               ? "no metric says which trial is better"
                               : fmt::format("metric is '{}'", sweep.metric.substr(0, 40)),
                           "name what trials are judged by: metric: accuracy", "metric");
  if (const auto less = train::less_is_better(sweep.metric);
      less && *less != (sweep.goal == wire::SweepGoal::minimize))
    return wrong_parameter(fmt::format("goal is {}, but {} of {} is better", to_string(sweep.goal),
                                       *less ? "less" : "more", sweep.metric),
                           fmt::format("use goal: {}", *less ? "minimize" : "maximize"), "goal");
  return {};
}

// Of a training whose data is known.
Result<> check_measured(const wire::Batch& work, const wire::Sweep& sweep) {
  if (!work.train || work.train->trainer != wire::Trainer::torch) return {};
  const auto measured = measured_by(*work.train);
  if (std::ranges::find(measured, sweep.metric) == measured.end())
    return wrong_parameter(
        fmt::format("metric is {}, which this model does not measure", sweep.metric),
        fmt::format("use {}", fmt::join(measured, ", ")), "metric");
  return {};
}

// The field below `prefix`.
template <class T>
Result<T> below(Result<T> result, std::string_view prefix) {
  if (!result) result.error().field = fmt::format("{}.{}", prefix, result.error().field);
  return result;
}

}  // namespace

Result<> set_parameter(wire::Batch& work, std::string_view of, const std::string& name,
                       const std::string& json) {
  Result<> set;
  if (trains(of) && work.train)
    set = set_of_training(work, name, json);
  else
    work.env[name] = plain_text(json);
  if (set) return {};
  auto error = std::move(set).error();
  if (!error.message.starts_with("it "))
    error.message = fmt::format("{} is {}: {}", wire::printable_key(name),
                                wire::printable_key(json), error.message);
  error.field = field_of(name);
  return std::unexpected(std::move(error));
}

Result<> check_search(const wire::Sweep& sweep) {
  if (sweep.parameters.empty() || sweep.parameters.size() > kMostParameters)
    return wrong_parameter(
        fmt::format("there are {} parameters", sweep.parameters.size()),
        fmt::format("use 1 to {}: parameters: {{lr: {{log: [0.001, 0.1]}}}}", kMostParameters),
        "parameters");
  SOUK_TRY(check_metric(sweep));
  const bool grid = sweep.method == wire::SweepMethod::grid;
  for (const auto& [name, parameter] : sweep.parameters) {
    SOUK_TRY(check_parameter(name, parameter, grid));
    if (name == "epochs" && sweep.method == wire::SweepMethod::asha)
      return wrong_parameter("asha compares trials after the same number of epochs",
                             "give epochs: once, outside of the sweep", field_of(name));
  }
  SOUK_TRY(check_numbers(sweep));
  SOUK_TRY(check_note(sweep));
  return check_count(sweep);
}

Result<> check_values(const wire::Batch& work, const wire::Sweep& sweep) {
  for (const auto& [name, parameter] : sweep.parameters) {
    auto values = grid_values(parameter);
    if (parameter.scale && !parameter.steps) {  // Its ends.
      auto ends = parameter;
      ends.steps = 2;
      values = grid_values(ends);
    }
    for (const auto& value : values) {
      auto tried = work;
      SOUK_TRY(set_parameter(tried, sweep.of, name, value));
    }
  }
  return {};
}

Result<wire::Batch> trial_work(const wire::Batch& work, std::int32_t number, const Point& point) {
  auto out = work;
  out.sweep.reset();
  out.env["SOUK_TRIAL"] = std::to_string(number);
  for (const auto& [name, value] : point) SOUK_TRY(set_parameter(out, work.sweep->of, name, value));
  return out;
}

Result<> check_sweep(const wire::NewJob& job) {
  if (!job.batch || !job.batch->sweep)
    return base::fail(Code::invalid, "a sweep without a description of what it tries",
                      "give batch.sweep", "batch");
  const auto& sweep = *job.batch->sweep;
  const auto* of = find_kind(sweep.of);
  if (of == nullptr || of->sweeps)
    return base::fail(Code::invalid, fmt::format("'{}' cannot be tried", sweep.of.substr(0, 40)),
                      fmt::format("use {}", kind_names([](const Kind& k) { return !k.sweeps; })),
                      "batch.sweep.of");
  SOUK_TRY(below(check_search(sweep), "batch.sweep"));
  SOUK_TRY(below(check_values(*job.batch, sweep), "batch.sweep"));
  SOUK_TRY(below(check_measured(*job.batch, sweep), "batch.sweep"));
  if (sweep.trial_budget && *sweep.trial_budget > job.budget)
    return base::fail(Code::invalid, "a trial may cost more than the whole sweep",
                      "use a smaller trial_budget", "batch.sweep.trial_budget");
  // The first and the last of all values stand for the others.
  const auto points = points_of(sweep);
  for (const auto* point : {&points.front(), &points.back()}) {
    auto trial = job;
    trial.kind = sweep.of;
    SOUK_ASSIGN(trial.batch, trial_work(*job.batch, 1, *point));
    SOUK_TRY(of->check(trial));
  }
  return {};
}

std::vector<std::string_view> sweep_demands(const wire::Batch& work) {
  const auto* of = work.sweep ? find_kind(work.sweep->of) : nullptr;
  return of != nullptr && of->demands != nullptr ? of->demands(work)
                                                 : std::vector<std::string_view>{};
}

std::vector<std::string> sweep_blobs(const wire::Batch& work) {
  const auto* of = work.sweep ? find_kind(work.sweep->of) : nullptr;
  return of != nullptr && of->blobs != nullptr ? of->blobs(work) : std::vector<std::string>{};
}

}  // namespace souk::job
