#include "lab/report/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace souk::lab {
namespace {

// The continued fraction of the regularised incomplete beta function (Lentz's method).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto guarded = [](double v) { return std::abs(v) < tiny ? tiny : v; };
  double c = 1, d = 1 / guarded(1 - (a + b) * x / (a + 1)), out = d;
  for (int m = 1; m <= 300; ++m) {
    const auto even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guarded(1 + even * d);
    c = guarded(1 + even / c);
    out *= d * c;
    const auto odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guarded(1 + odd * d);
    c = guarded(1 + odd / c);
    const auto step = d * c;
    out *= step;
    if (std::abs(step - 1) < 1e-15) break;
  }
  return out;
}

double regularised_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const auto front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                              a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double mean_of(std::span<const double> samples) {
  double sum = 0;
  for (const auto s : samples) sum += s;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

double deviation_of(std::span<const double> samples) {
  if (samples.size() < 2) return 0;
  const auto mean = mean_of(samples);
  double squares = 0;
  for (const auto s : samples) squares += (s - mean) * (s - mean);
  return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

Estimate estimate(std::span<const double> samples) {
  CHECK(!samples.empty());
  const auto mean = mean_of(samples);
  if (samples.size() == 1) return {mean, mean, mean};
  const auto n = static_cast<double>(samples.size());
  const auto half = student_t_quantile(.975, n - 1) * deviation_of(samples) / std::sqrt(n);
  return {mean, mean - half, mean + half};
}

double student_t(double t, double freedom) {
  const auto tail = regularised_beta(freedom / 2, .5, freedom / (freedom + t * t)) / 2;
  return t > 0 ? 1 - tail : tail;
}

double student_t_quantile(double share, double freedom) {
  CHECK(share > 0 && share < 1 && freedom >= 1);
  double low = -1, high = 1;
  while (student_t(low, freedom) > share) low *= 2;
  while (student_t(high, freedom) < share) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * std::max(1.0, std::abs(low)); ++i) {
    const auto middle = (low + high) / 2;
    (student_t(middle, freedom) < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

double quantile_of(std::span<const double> sorted, double share) {
  CHECK(!sorted.empty());
  const auto n = static_cast<double>(sorted.size());
  const auto at = std::clamp(std::ceil(share * n - 1e-9) - 1, 0.0, n - 1);
  return sorted[static_cast<std::size_t>(at)];
}

}  // namespace souk::lab
