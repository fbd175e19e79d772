#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/fields.h"

// Sample statistics. Pure; sums run in the order of their input, so that the same input gives the
// same bits.

namespace souk::lab {

// A mean and its 95% confidence interval (Student's t). With one sample the interval is the mean.
struct Estimate {
  double mean = 0, low = 0, high = 0;

  SOUK_FIELDS(Estimate, mean, low, high)
};

[[nodiscard]] double mean_of(std::span<const double> samples);
// The sample standard deviation (n - 1); 0 with fewer than two.
[[nodiscard]] double deviation_of(std::span<const double> samples);
// Requires at least one sample.
[[nodiscard]] Estimate estimate(std::span<const double> samples);

// P(T <= t) and its inverse, for `freedom` >= 1 degrees of freedom.
[[nodiscard]] double student_t(double t, double freedom);
[[nodiscard]] double student_t_quantile(double share, double freedom);

// The smallest sample with at least `share` of them at or below it; `sorted` is not empty.
[[nodiscard]] double quantile_of(std::span<const double> sorted, double share);

}  // namespace souk::lab
