#include "train/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace souk::train {
namespace {

using base::Code;
using base::fail;

constexpr const char* kOffsetMean = "offset_mean";
constexpr const char* kOffsetSquare = "offset_square";

// Figures that mean the same everywhere. What is averaged over shards is `inner` of them.
struct Known {
  std::string_view name;
  bool less_is_better;
  double (*inner)(double) = nullptr;
  double (*outer)(double) = nullptr;
};
double squared(double x) { return x * x; }
constexpr std::array kKnownMetrics{
    Known{kLoss, true},
    Known{kAccuracy, false},
    Known{"perplexity", true, [](double x) { return std::log(x); },
          [](double x) { return std::exp(x); }},
    Known{"rmse", true, squared, [](double x) { return std::sqrt(x); }},
    Known{"mae", true},
    Known{"r2", false},
};

const Known* find(std::string_view name) {
  const auto it = std::ranges::find(kKnownMetrics, name, &Known::name);
  return it == kKnownMetrics.end() ? nullptr : &*it;
}

// The variance does not depend on the number that the distances were taken from.
void put_r2(Metrics& metrics) {
  const auto rmse = metrics.find("rmse");
  const auto mean = metrics.find(kOffsetMean), square = metrics.find(kOffsetSquare);
  if (rmse == metrics.end() || mean == metrics.end() || square == metrics.end()) return;
  const auto variance = square->second - squared(mean->second);
  metrics.erase(kOffsetMean);
  metrics.erase(kOffsetSquare);
  if (variance > 0) metrics["r2"] = 1 - squared(rmse->second) / variance;
}

}  // namespace

std::optional<double> Measured::figure(std::string_view name) const {
  if (name == kLoss) return loss;
  const auto it = metrics.find(std::string(name));
  return it == metrics.end() ? std::nullopt : std::optional(it->second);
}

bool valid_metric_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostMetricName && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.@/-").contains(c);
  });
}

base::Result<> check_metrics(const Metrics& metrics) {
  if (metrics.size() > kMostMetrics)
    return fail(Code::invalid, fmt::format("a check has {} metrics", metrics.size()),
                fmt::format("give {} at most", kMostMetrics), "metrics");
  for (const auto& [name, value] : metrics) {
    if (!valid_metric_name(name))
      return fail(Code::invalid,
                  fmt::format("the name of a metric has {} characters, or some that it must not",
                              name.size()),
                  fmt::format("use 1 to {} letters, digits or _.@/-", kMostMetricName), "metrics");
    if (!std::isfinite(value) || std::abs(value) > kMostMetric)
      return fail(Code::invalid, fmt::format("the metric {} is {}", name, value),
                  fmt::format("give a number between -{0} and {0}", kMostMetric), "metrics");
    if (name == kAccuracy && !(value >= 0 && value <= 1))
      return fail(Code::invalid, fmt::format("the accuracy is {}", value),
                  "it is a share of the samples: 0 to 1", "metrics");
    if (name == "perplexity" && !(value > 0))
      return fail(Code::invalid, fmt::format("the perplexity is {}", value),
                  "it is exp(loss), and so above 0", "metrics");
  }
  return {};
}

Measured combined(std::span<const Measured> parts) {
  Measured out;
  if (parts.empty()) return out;
  for (const auto& part : parts) {
    out.samples += part.samples;
    out.loss += part.loss * static_cast<double>(part.samples);
  }
  const auto n = static_cast<double>(std::max<std::int64_t>(out.samples, 1));
  out.loss /= n;
  for (const auto& [name, first] : parts.front().metrics) {
    const auto* known = find(name);
    const bool transformed = known != nullptr && known->inner != nullptr;
    double sum = 0;
    const bool all = std::ranges::all_of(parts, [&](const Measured& part) {
      const auto value = part.figure(name);
      if (value)
        sum += (transformed ? known->inner(*value) : *value) * static_cast<double>(part.samples);
      return value.has_value();
    });
    if (all) out.metrics[name] = transformed ? known->outer(sum / n) : sum / n;
  }
  put_r2(out.metrics);
  return out;
}

std::optional<bool> less_is_better(std::string_view name) {
  const auto* known = find(name);
  return known == nullptr ? std::nullopt : std::optional(known->less_is_better);
}

}  // namespace souk::train
