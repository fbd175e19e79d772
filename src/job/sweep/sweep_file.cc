#include "job/sweep/sweep_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "job/file_keys.h"
#include "job/sweep/sweep_work.h"
#include "job/train/training_file.h"
#include "market/limits.h"
#include "train/metrics.h"

namespace souk::job {
namespace {

using base::Code;
using base::Result;

constexpr std::string_view kRangeForms =
    "use a list of values, {log: [0.001, 0.1]}, {uniform: [0, 1]} "
    "or {whole: [1, 8]}";

struct RangeKeys {
  std::optional<std::vector<double>> uniform, log, whole;
  std::optional<std::int32_t> steps;
  SOUK_FIELDS(RangeKeys, uniform, log, whole, steps)
};

struct SearchKeys {
  std::map<std::string, wire::AnyJson> parameters;
  std::optional<wire::SweepMethod> method;
  std::optional<std::int32_t> trials, parallel;
  std::optional<std::string> metric;
  std::optional<wire::SweepGoal> goal;
  std::optional<std::int64_t> seed;
  std::optional<base::Credits> trial_budget;
  std::optional<std::int32_t> min_epochs, eta;
  SOUK_FIELDS(SearchKeys, parameters, method, trials, parallel, metric, goal, seed, trial_budget,
              min_epochs, eta)
};

struct SweepKeys {
  SearchKeys sweep;
  SOUK_FIELDS(SweepKeys, sweep)
};

Result<wire::SweepParameter> read_range(const wire::AnyJson& json, const std::string& field) {
  auto keys = wire::from_json<RangeKeys>(json.text);
  if (!keys) {
    auto error = at(std::move(keys).error(), field);
    if (error.hint.empty()) error.hint = kRangeForms;
    return std::unexpected(std::move(error));
  }
  wire::SweepParameter out{.steps = keys->steps};
  int scales = 0;
  for (const auto& [scale, ends] : {std::pair(wire::SweepScale::uniform, &keys->uniform),
                                    std::pair(wire::SweepScale::log, &keys->log),
                                    std::pair(wire::SweepScale::whole, &keys->whole)}) {
    if (!*ends) continue;
    ++scales;
    out.scale = scale;
    if ((*ends)->size() != 2)
      return std::unexpected(
          at({Code::invalid, fmt::format("a range has two ends, not {}", (*ends)->size()),
              std::string(kRangeForms)},
             field));
    out.low = (*ends)->front();
    out.high = (*ends)->back();
  }
  if (scales != 1)
    return std::unexpected(at(
        {Code::invalid, fmt::format("it has {} scales", scales), std::string(kRangeForms)}, field));
  return out;
}

Result<wire::SweepParameter> read_parameter(const std::string& name, const wire::AnyJson& json) {
  const auto field = "sweep.parameters." + name;
  if (const auto list = wire::from_json<std::vector<wire::AnyJson>>(json.text)) {
    wire::SweepParameter out;
    for (const auto& value : *list) out.values.push_back(value.text);
    return out;
  }
  if (!json.text.starts_with('{'))
    return std::unexpected(
        at({Code::invalid,
            fmt::format("{} is one value: there is nothing to try", wire::printable_key(json.text)),
            std::string(kRangeForms)},
           field));
  return read_range(json, field);
}

Result<wire::Sweep> read_search(SearchKeys keys, std::string_view of) {
  wire::Sweep out{.of = std::string(of)};
  for (const auto& [name, json] : keys.parameters) {
    SOUK_ASSIGN(out.parameters[name], read_parameter(name, json));
  }
  out.method = keys.method.value_or(out.method);
  out.parallel = keys.parallel.value_or(out.parallel);
  out.metric = keys.metric.value_or("");
  const bool less = train::less_is_better(out.metric).value_or(false);
  out.goal = keys.goal.value_or(less ? wire::SweepGoal::minimize : wire::SweepGoal::maximize);
  out.seed = keys.seed.value_or(out.seed);
  out.trial_budget = keys.trial_budget;
  out.min_epochs = keys.min_epochs.value_or(out.min_epochs);
  out.eta = keys.eta.value_or(out.eta);
  const auto all = combinations(out);
  const bool grid = out.method == wire::SweepMethod::grid;
  const bool few = all > 0 && all < out.trials;
  if (keys.trials)
    out.trials = *keys.trials;
  else if ((grid || few) && std::cmp_less_equal(all, market::kTrialsPerSweep))
    out.trials = static_cast<std::int32_t>(all);
  return out;
}

// A sweep with run: tries a program, and the keys of a training mean nothing to it.
Result<> check_base(const boost::json::object& file, const Kind& of) {
  for (const auto& member : file) {
    const std::string key(member.key());
    const auto& all = sweep_keys();
    if (key == "sweep" || std::ranges::find(all, key) == all.end() ||
        std::ranges::find(of.keys, key) != of.keys.end())
      continue;
    return std::unexpected(
        at({Code::invalid, "it is a key of trainings, and this sweep has run:", "drop it, or run:"},
           key));
  }
  return {};
}

}  // namespace

std::span<const std::string_view> sweep_keys() {
  static const auto all = [] {
    const auto base = training_keys();
    std::vector<std::string_view> out(base.begin(), base.end());
    out.emplace_back("sweep");
    return out;
  }();
  return all;
}

Result<> read_sweep(const boost::json::object& file, const PathRules& rules, JobFile& out) {
  if (!file.contains("sweep"))
    return std::unexpected(at({Code::invalid, "a sweep needs to know what it tries",
                               "sweep: {parameters: {lr: {log: [0.001, 0.1]}}, metric: accuracy}"},
                              "sweep"));
  const bool runs = file.contains("run");
  const Kind* of = nullptr;
  for (const auto& kind : kinds())
    if (of == nullptr && !kind.sweeps && kind.trains != runs) of = &kind;
  SOUK_TRY(check_base(file, *of));
  SOUK_TRY(of->read(file, rules, out));
  SOUK_ASSIGN(auto keys, read_keys<SweepKeys>(file));
  SOUK_ASSIGN(auto sweep, read_search(std::move(keys.sweep), of->name));
  auto work = *out.job.batch;
  if (const auto* training = training_of(out)) work.train = training->train;
  auto good = check_search(sweep);
  if (good) good = check_values(work, sweep);
  if (!good) {
    auto field = "sweep." + good.error().field;
    return std::unexpected(at(std::move(good).error(), std::move(field)));
  }
  out.job.batch->sweep = std::move(sweep);
  return {};
}

Result<> pack_sweep(JobFile& file, Packer& packer) {
  const auto* of = find_kind(file.job.batch->sweep->of);
  return of->pack != nullptr ? of->pack(file, packer) : Result<>();
}

Intent describe_sweep(const JobFile& file) {
  const auto& sweep = *file.job.batch->sweep;
  std::vector<std::string_view> names;
  for (const auto& [name, parameter] : sweep.parameters) names.push_back(name);
  auto trial = file;
  trial.job.batch->sweep.reset();
  const auto intent = find_kind(sweep.of)->describe(trial);
  return {"tries", fmt::format("{} settings of {} ({}), {} at a time, for the {} {}; each {} {}",
                               sweep.trials, fmt::join(names, ", "), to_string(sweep.method),
                               std::min(sweep.parallel, sweep.trials),
                               sweep.goal == wire::SweepGoal::maximize ? "highest" : "lowest",
                               sweep.metric, intent.verb, intent.object)};
}

}  // namespace souk::job
