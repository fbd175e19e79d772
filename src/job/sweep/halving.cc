#include "job/sweep/halving.h"

#include <algorithm>
#include <limits>

namespace souk::job {

std::int64_t rung_epochs(const wire::Sweep& sweep, std::size_t rung) {
  std::int64_t out = sweep.min_epochs;
  for (std::size_t i = 0; i < rung; ++i) {
    if (out > std::numeric_limits<std::int32_t>::max()) break;  // Nobody comes so far.
    out *= sweep.eta;
  }
  return out;
}

bool is_better(const wire::Sweep& sweep, std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a.has_value();
  return sweep.goal == wire::SweepGoal::maximize ? *a > *b : *a < *b;
}

bool goes_on(const wire::Sweep& sweep, std::optional<double> value,
             std::span<const std::optional<double>> others) {
  if (!value) return false;
  const auto better = std::ranges::count_if(
      others, [&](const auto& other) { return is_better(sweep, other, value); });
  const auto all = std::ssize(others) + 1;
  return better < std::max<std::ptrdiff_t>(1, all / sweep.eta);
}

}  // namespace souk::job
