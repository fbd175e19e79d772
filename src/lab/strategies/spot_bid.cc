#include "lab/strategies/spot_bid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace souk::lab {

double UniformPrices::below(double price) const {
  return std::clamp((price - low_) / (high_ - low_), 0.0, 1.0);
}
double UniformPrices::partial(double price) const {
  const auto p = std::clamp(price, low_, high_);
  return (p * p - low_ * low_) / (2 * (high_ - low_));
}
double UniformPrices::quantile(double share) const {
  return low_ + std::clamp(share, 0.0, 1.0) * (high_ - low_);
}

double ExponentialPrices::below(double price) const {
  return price <= floor_ ? 0 : -std::expm1(-(price - floor_) / mean_);
}
double ExponentialPrices::partial(double price) const {
  if (price <= floor_) return 0;
  const auto above = price - floor_;
  return (floor_ + mean_) * below(price) - above * std::exp(-above / mean_);
}
double ExponentialPrices::quantile(double share) const {
  return share >= 1 ? ceiling() : floor_ - mean_ * std::log1p(-std::max(share, 0.0));
}

SeenPrices::SeenPrices(std::span<const double> prices) : sorted_(prices.begin(), prices.end()) {
  CHECK(!sorted_.empty());
  std::ranges::sort(sorted_);
  sums_.push_back(0);
  for (const auto p : sorted_) sums_.push_back(sums_.back() + p);
}
double SeenPrices::below(double price) const {
  const auto n = std::ranges::upper_bound(sorted_, price) - sorted_.begin();
  return static_cast<double>(n) / static_cast<double>(sorted_.size());
}
double SeenPrices::partial(double price) const {
  const auto n = std::ranges::upper_bound(sorted_, price) - sorted_.begin();
  return sums_[static_cast<std::size_t>(n)] / static_cast<double>(sorted_.size());
}
double SeenPrices::quantile(double share) const {
  const auto n = static_cast<double>(sorted_.size());
  const auto at = std::ceil(std::clamp(share, 0.0, 1.0) * n - 1e-9);
  return sorted_[static_cast<std::size_t>(std::clamp(at - 1, 0.0, n - 1))];
}

double one_time_bid(const PriceLaw& law, const SpotJob& job) {
  CHECK(job.run_time > 0);
  return std::max(law.floor(), law.quantile(1 - job.slot / job.run_time));
}

double persistent_bid(const PriceLaw& law, const SpotJob& job) {
  if (job.recovery <= 0) return law.floor();
  // The left side falls as the bid rises, from (floor / 0 where prices may be the floor) to the
  // mean over what is left below the ceiling.
  const auto excess = [&](double p) {
    const auto f = law.below(p), g = law.partial(p), h = p * f - g;
    if (h <= 0) return f > 0 ? std::numeric_limits<double>::infinity() : 0.0;
    return f * (g / h - 1) - (job.slot / job.recovery - 1);
  };
  auto low = law.floor(), high = law.ceiling();
  const auto step = (high - low) * 1e-9;
  if (excess(low + step) <= 0) return low;
  if (excess(high) >= 0) return high;
  for (int i = 0; i < 100; ++i) {
    const auto middle = (low + high) / 2;
    (excess(middle) > 0 ? low : high) = middle;
  }
  return low;
}

double persistent_cost(const PriceLaw& law, const SpotJob& job, double bid) {
  const auto f = law.below(bid);
  if (f <= 0) return std::numeric_limits<double>::infinity();
  const auto lost = job.recovery / job.slot * (1 - f);  // Of each slot, to recovering.
  if (lost >= 1) return std::numeric_limits<double>::infinity();
  return (job.run_time - job.recovery) / (1 - lost) * (law.partial(bid) / f) / 3600;
}

}  // namespace souk::lab
