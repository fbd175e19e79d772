#include "advisor/churn.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace souk::advisor {

double best_interval(double checkpoint_s, double stay_s) {
  CHECK(checkpoint_s >= 0 && stay_s > 0);
  if (std::isinf(stay_s)) return stay_s;
  if (checkpoint_s >= 2 * stay_s) return stay_s;
  const auto part = checkpoint_s / (2 * stay_s);
  return std::sqrt(2 * checkpoint_s * stay_s) * (1 + std::sqrt(part) / 3 + part / 9) - checkpoint_s;
}

Recovery settled(Recovery recovery, double per_s) {
  constexpr auto never = std::numeric_limits<double>::infinity();
  if (recovery.interval_s <= 0)
    recovery.interval_s = best_interval(recovery.checkpoint_s, per_s > 0 ? 1 / per_s : never);
  return recovery;
}

double stretch_of_checkpoints(const Recovery& recovery) {
  return recovery.interval_s > 0 ? 1 + recovery.checkpoint_s / recovery.interval_s : 1;
}

double stretch(double per_s, const Recovery& recovery) {
  CHECK(per_s >= 0);
  if (per_s == 0) return stretch_of_checkpoints(recovery);
  const auto restarts = std::exp(per_s * recovery.restart_s);
  if (recovery.interval_s <= 0) return restarts;  // Work that is safe at every moment.
  return restarts * std::expm1(per_s * (recovery.interval_s + recovery.checkpoint_s)) /
         (per_s * recovery.interval_s);
}

double lost_per_revocation(double per_s, const Recovery& recovery) {
  if (per_s == 0) return 0;
  const auto whole = stretch(per_s, recovery);
  return (whole - stretch_of_checkpoints(recovery)) / (per_s * whole);
}

double chance_of_at_most(double most, double mean) {
  CHECK(mean >= 0);
  if (most < 0) return 0;
  if (mean == 0 || std::isinf(most)) return 1;
  constexpr double large = 1'000;
  if (mean > large) return std::erfc((mean - std::floor(most) - 0.5) / std::sqrt(2 * mean)) / 2;
  // Far beyond the mean there is nothing left to add.
  const auto last = std::fmin(std::floor(most), mean + 40 * std::sqrt(mean) + 40);
  double sum = 0, log_term = -mean;
  for (double n = 0; n <= last; ++n) {
    if (n > 0) log_term += std::log(mean / n);

    sum += std::exp(log_term);
  }
  return std::fmin(sum, 1);
}

}  // namespace souk::advisor
