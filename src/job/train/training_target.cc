#include "job/train/training_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "job/file_keys.h"
#include "train/metrics.h"
#include "wire/json.h"

namespace souk::job {
namespace {

using base::Code;
using base::Result;

constexpr std::string_view kTargetForms =
    "use {accuracy: 0.98}, {loss: 0.1}, or {metric: f1, at_least: 0.9} (or at_most)";

base::Failure wrong_target(std::string message, std::string hint, std::string field = "target") {
  return base::fail(Code::invalid, std::move(message), std::move(hint), std::move(field));
}

}  // namespace

// What the native trainer's checks come to (trainers/torch/learner.cc).
std::vector<std::string_view> measured_by(const wire::Train& train) {
  const auto is = [&](const char* key, std::string_view value) {
    const auto it = train.config.find(key);
    return it != train.config.end() && it->second == value;
  };
  if (is("task", "\"regression\"")) return {"loss", "rmse", "mae", "r2"};
  if (is("model", "\"char-transformer\"")) return {"loss", "perplexity", "accuracy"};
  return {"loss", "accuracy"};
}

Result<wire::TrainTarget> read_target(const wire::AnyJson& json) {
  const auto given = wire::from_json<std::map<std::string, wire::AnyJson>>(json.text);
  if (!given || given->empty())
    return wrong_target(fmt::format("target is {}", wire::printable_key(json.text)),
                        std::string(kTargetForms));
  if (given->contains("metric") || given->contains("at_least") || given->contains("at_most")) {
    auto out = wire::from_json<wire::TrainTarget>(json.text);
    if (!out) return std::unexpected(at(std::move(out).error(), "target"));
    return *std::move(out);
  }
  if (given->size() > 1)
    return wrong_target(fmt::format("target names {} figures", given->size()),
                        "name the one that decides: target: {accuracy: 0.98}");
  const auto& [name, text] = *given->begin();
  const auto field = "target." + wire::printable_key(name);
  const auto value = wire::from_json<double>(text.text);
  if (!value)
    return wrong_target(fmt::format("{} is {}", field, wire::printable_key(text.text)),
                        "give a number", field);
  if (name == train::kAccuracy) return wire::TrainTarget{.accuracy = *value};
  const auto below = train::less_is_better(name);
  if (!below)
    return wrong_target(
        fmt::format("{} is {}: it is not known whether more or less of it is better", field,
                    *value),
        fmt::format("use target: {{metric: {0}, at_least: {1}}} or {{metric: {0}, at_most: {1}}}",
                    wire::printable_key(name), *value),
        field);
  wire::TrainTarget out{.metric = name};
  (*below ? out.at_most : out.at_least) = *value;
  return out;
}

Result<> check_target(const wire::Train& train) {
  if (!train.target) return {};
  const auto& t = *train.target;
  const auto bounds = int{t.accuracy.has_value()} + t.at_least.has_value() + t.at_most.has_value();
  if (bounds != 1 || t.accuracy.has_value() == t.metric.has_value())
    return wrong_target(
        fmt::format("target has {} bounds and {}", bounds, t.metric ? "a metric" : "no metric"),
        std::string(kTargetForms));
  const auto name = t.figure();
  if (!train::valid_metric_name(name))
    return wrong_target(fmt::format("target.metric is '{}'", wire::printable_key(name)),
                        fmt::format("use 1 to {} letters, digits or _.@/-", train::kMostMetricName),
                        "target.metric");
  const std::string field = t.accuracy   ? "target.accuracy"
                            : t.at_least ? "target.at_least"
                                         : "target.at_most";
  const auto value = t.value();
  if (!std::isfinite(value) || std::abs(value) > train::kMostMetric)
    return wrong_target(fmt::format("{} is {}", field, value), "give a number that can be reached",
                        field);
  if (name == train::kAccuracy && !(value >= 0 && value <= 1))
    return wrong_target(fmt::format("{} is {}", field, value),
                        value > 1 && value <= 100
                            ? fmt::format("use 0 to 1: {}% is {}", value, value / 100)
                            : "use 0 to 1",
                        field);
  if (const auto known = train::less_is_better(name); known && *known != t.below())
    return wrong_target(fmt::format("{} is {}, but {} of {} is better", field, value,
                                    *known ? "less" : "more", name),
                        fmt::format("use {}: {}", *known ? "at_most" : "at_least", value), field);
  if (train.trainer != wire::Trainer::torch) return {};
  const auto measured = measured_by(train);
  if (std::ranges::find(measured, name) == measured.end())
    return wrong_target(fmt::format("the target is of {}, which this model does not measure", name),
                        fmt::format("use {}", fmt::join(measured, ", ")), "target");
  return {};
}

}  // namespace souk::job
