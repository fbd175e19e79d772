#include "market/tally.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace souk::market {
namespace {

constexpr std::size_t kWaits = 32;

}  // namespace

std::int64_t add_saturating(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

void Tally::waited(base::Duration d) {
  waits.resize(kWaits);
  std::size_t i = 0;
  while (i + 1 < kWaits && base::seconds(std::int64_t{1} << i) < d) ++i;
  ++waits[i];
}

std::optional<base::Duration> Tally::wait(double q) const {
  const auto jobs = std::accumulate(waits.begin(), waits.end(), std::int64_t{0});
  if (jobs == 0) return std::nullopt;
  const auto wanted = std::ceil(q * static_cast<double>(jobs));
  std::int64_t seen = 0;
  std::size_t i = 0;
  while (i + 1 < waits.size() && static_cast<double>(seen += waits[i]) < wanted) ++i;
  return base::seconds(std::int64_t{1} << i);
}

Tally& Tallies::now() {
  if (const auto it = of.find(in_force); it != of.end()) return it->second;
  return of[of.size() < kTallies ? in_force : std::string()];
}

}  // namespace souk::market
