#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

// What a check measures: the loss, and whatever else the trainer names. Pure.

namespace souk::train {

using Metrics = std::map<std::string, double>;

inline constexpr std::string_view kLoss = "loss", kAccuracy = "accuracy";
inline constexpr std::size_t kMostMetrics = 16;  // Of a check, and of all checks of a job.
inline constexpr std::size_t kMostMetricName = 64;
inline constexpr double kMostMetric = 1e100;

// What somebody measured on some samples.
struct Measured {
  std::int64_t samples = 0;
  double loss = 0;
  Metrics metrics;

  // The loss, or the metric of this name.
  [[nodiscard]] std::optional<double> figure(std::string_view name) const;
};

// Letters, digits and _.@/-, so that it can stand in a table, a picture and on a terminal.
[[nodiscard]] bool valid_metric_name(std::string_view name);

// Not too many, with valid names, and numbers that can be averaged. Whoever sends them may lie.
[[nodiscard]] base::Result<> check_metrics(const Metrics& metrics);

// The same as one measurement on all samples, of the metrics that all have: means by samples, but
// of the squares for rmse and of the logarithms for perplexity. Trainers that estimate amounts give
// `offset_mean` and `offset_square` beside rmse: the mean of the true amounts' distance from any
// fixed number, and of its square. With those r2 is exact, and takes their place.
[[nodiscard]] Measured combined(std::span<const Measured> parts);

// Is less of it better? Of names that mean the same everywhere; nothing: not known.
[[nodiscard]] std::optional<bool> less_is_better(std::string_view name);

// Where a training may end: at this value of a figure, or beyond.
struct Target {
  std::string figure;
  double value = 0;
  bool at_most = false;

  [[nodiscard]] bool reached(std::optional<double> found) const {
    return found && (at_most ? *found <= value : *found >= value);
  }
};

}  // namespace souk::train
