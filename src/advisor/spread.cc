#include "advisor/spread.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace souk::advisor {

Spread::Spread(std::vector<double> residuals) : points_(std::move(residuals)) {
  std::ranges::sort(points_);
  CHECK(points_.empty() || points_.front() > -1);
  const auto low = points_.empty() ? 0 : points_.front();
  const auto high = points_.empty() ? 0 : points_.back();
  points_.insert(points_.begin(), std::min(low, -kUnmeasured));
  points_.push_back(std::max(high, kUnmeasured));
}

double Spread::quantile(double share) const {
  CHECK(share >= 0 && share <= 1);
  const auto place = share * static_cast<double>(points_.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), points_.size() - 2);
  return std::lerp(points_[below], points_[below + 1], place - static_cast<double>(below));
}

double Spread::lean(double level) const {
  const auto tail = (1 - level) / 2;
  return quantile(tail) > 0 || quantile(1 - tail) < 0 ? quantile(0.5) : 0;
}

}  // namespace souk::advisor
