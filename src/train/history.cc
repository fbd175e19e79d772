#include <algorithm>
#include <cmath>

#include "train/lanes.h"
#include "train/validator.h"

namespace souk::train {
namespace {

// The lower of the two in the middle where there are two.
double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double median(const std::deque<double>& values) {
  return median(std::vector<double>(values.begin(), values.end()));
}

void remember(std::deque<double>& values, double value) {
  values.push_back(value);
  if (values.size() > kRemembered) values.pop_front();
}

}  // namespace

Stats stats_of(const Update& update) {
  std::vector<float> scratch(kChunk);
  double sum = 0;
  for (std::size_t i = 0; i < update.count(); ++i) {
    const auto size = std::min(kBlock, update.size() - i * kBlock);
    for (std::size_t from = 0; from < size; from += kChunk) {
      const auto values = update.chunk(i, from, scratch);
      sum += sum_of_squares(values.data(), values.size());
    }
  }
  return {.finite = std::isfinite(sum), .norm = std::sqrt(sum)};
}

double norm_per_step(const Evidence& e) {
  return e.stats.norm / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, e.steps)));
}

void History::accept(const Evidence& e) {
  remember(norms_, norm_per_step(e));
  remember(losses_, e.loss);
}

double History::median_norm() const { return median(norms_); }
double History::median_loss() const { return median(losses_); }

double History::spread_loss() const {
  const auto middle = median_loss();
  std::vector<double> distances;
  for (const auto loss : losses_) distances.push_back(std::abs(loss - middle));
  return median(std::move(distances));
}

void History::restore(std::deque<double> norms, std::deque<double> losses) {
  norms_ = std::move(norms);
  losses_ = std::move(losses);
  while (norms_.size() > kRemembered) norms_.pop_front();
  while (losses_.size() > kRemembered) losses_.pop_front();
}

}  // namespace souk::train
