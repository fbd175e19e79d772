#include <algorithm>
#include <cmath>

#include "train/lanes.h"
#include "train/validators/validator.h"

namespace souk::train {
namespace {

constexpr float kKeepHeading = 0.9F;  // So that the last ten or so count.
constexpr std::size_t kRecord = 16, kMostRecords = 1'000;

void remember(std::deque<double>& values, double value) {
  values.push_back(value);
  if (values.size() > kRemembered) values.pop_front();
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double median(const std::deque<double>& values) {
  return median(std::vector<double>(values.begin(), values.end()));
}

double spread(const std::deque<double>& values) {
  const auto middle = median(values);
  std::vector<double> distances;
  for (const auto value : values) distances.push_back(std::abs(value - middle));
  return median(std::move(distances));
}

void StatsSum::add(const Update& update, std::size_t block) {
  scratch_.resize(kChunk);
  const auto size = std::min(kBlock, update.size() - block * kBlock);
  for (std::size_t from = 0; from < size; from += kChunk) {
    const auto values = update.chunk(block, from, scratch_);
    squares_ += sum_of_squares(values.data(), values.size());
  }
}

Stats StatsSum::stats() const {
  return {.finite = std::isfinite(squares_), .norm = std::sqrt(squares_)};
}

Stats stats_of(const Update& update) {
  StatsSum sum;
  for (std::size_t i = 0; i < update.count(); ++i) {
    sum.add(update, i);
    update.let_go(i);
  }
  return sum.stats();
}

// Whole chunks, evenly spread over the update: nothing else can be decoded alone.
Direction direction_of(const Update& update) {
  const auto chunks = [&](std::size_t i) {
    return (std::min(kBlock, update.size() - i * kBlock) + kChunk - 1) / kChunk;
  };
  std::size_t all = 0;
  for (std::size_t i = 0; i < update.count(); ++i) all += chunks(i);
  const auto some = std::min(all, kDirection / kChunk);
  std::vector<float> scratch(kChunk);
  Direction out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < update.count(); ++i)
    for (std::size_t c = 0; c < chunks(i); ++c, ++at) {
      if (at * some % all >= some) continue;  // Not the first of the next 1/some of all.
      const auto values = update.chunk(i, c * kChunk, scratch);
      out.insert(out.end(), values.begin(), values.end());
    }
  const auto length = std::sqrt(sum_of_squares(out.data(), out.size()));
  if (!(length > 0) || !std::isfinite(length)) return {};
  for (auto& x : out) x = static_cast<float>(x / length);
  return out;
}

double norm_per_step(const Evidence& e) {
  return e.stats.norm / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, e.steps)));
}

void History::accept(const Evidence& e) {
  remember(norms_, norm_per_step(e));
  remember(losses_, e.loss);
  if (e.direction.empty()) return;
  heading_.resize(e.direction.size());
  for (std::size_t i = 0; i < heading_.size(); ++i)
    heading_[i] = kKeepHeading * heading_[i] + e.direction[i];
}

std::optional<double> History::agreement(const Evidence& e) const {
  const auto length = std::sqrt(sum_of_squares(heading_.data(), heading_.size()));
  if (e.direction.size() != heading_.size() || !(length > 0)) return std::nullopt;
  double sum = 0;
  for (std::size_t i = 0; i < heading_.size(); ++i)
    sum += static_cast<double>(heading_[i]) * e.direction[i];
  return sum / length;
}

void History::note(const Evidence& e) {
  const auto agreed = agreement(e);
  if (!agreed) return;
  notes_.push_back({e.worker, *agreed});
  if (notes_.size() > kNotes) notes_.pop_front();
  auto& record = records_[e.worker];
  record.push_back(*agreed);
  if (record.size() > kRecord) record.erase(record.begin());
  if (records_.size() > kMostRecords) records_.erase(records_.begin());  // Ids grow.
}

std::span<const double> History::record(std::int64_t worker) const {
  const auto it = records_.find(worker);
  return it == records_.end() ? std::span<const double>() : it->second;
}

std::deque<double> History::others(std::int64_t worker, std::size_t own) const {
  std::deque<double> out;
  for (auto it = notes_.rbegin(); it != notes_.rend() && own > 0; ++it) {
    if (it->worker == worker)
      --own;
    else
      out.push_front(it->agreed);
  }
  return out;
}

double History::median_norm() const { return median(norms_); }
double History::median_loss() const { return median(losses_); }

double History::spread_loss() const { return spread(losses_); }

void History::restore(std::deque<double> norms, std::deque<double> losses) {
  norms_ = std::move(norms);
  losses_ = std::move(losses);
  while (norms_.size() > kRemembered) norms_.pop_front();
  while (losses_.size() > kRemembered) losses_.pop_front();
}

}  // namespace souk::train
