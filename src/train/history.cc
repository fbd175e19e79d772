#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "train/lanes.h"
#include "train/validators/validator.h"

namespace souk::train {
namespace {

constexpr float kKeepHeading = 0.9F;
constexpr std::size_t kHeaded = 16;
constexpr std::size_t kRecord = 16, kMostRecords = 1'000;
constexpr std::size_t kLatest = 5;

template <class T>
void remember(std::deque<T>& values, T value) {
  values.push_back(std::move(value));
  if (values.size() > kRemembered) values.pop_front();
}

// What `size` would be in a unit of so many steps. Steps that all point one way, as at the
// beginning and with momentum, add up by their number, not by its root.
double norm_for(const Size& size, std::int64_t steps) {
  if (size.steps == 0 || steps <= size.steps) return size.norm;
  return size.norm * std::sqrt(static_cast<double>(steps) / static_cast<double>(size.steps));
}

// What a unit of fewer steps would agree by: its signal shrinks with them, its noise with their
// root.
double agreed_for(double agreed, std::int64_t of, std::int64_t steps) {
  if (of == 0 || steps >= of) return agreed;
  const auto few = static_cast<double>(steps), many = static_cast<double>(of);
  const auto square = agreed * agreed;
  return agreed * std::sqrt(few / (square * few + (1 - square) * many));
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
  remember(sizes_, {norm_per_step(e), e.steps});
  remember(losses_, e.loss);
  least_loss_ = losses_.size() == 1 ? e.loss : std::min(least_loss_, e.loss);
  most_loss_ = losses_.size() == 1 ? e.loss : std::max(most_loss_, e.loss);
  if (e.direction.empty()) return;
  headed_.push_back({e.worker, e.direction});
  if (headed_.size() > kHeaded) headed_.pop_front();
}

std::optional<double> History::agreement(const Evidence& e) const {
  Direction heading(e.direction.size());
  float share = 1;
  for (auto it = headed_.rbegin(); it != headed_.rend(); ++it, share *= kKeepHeading)
    if (it->worker != e.worker && it->direction.size() == heading.size())
      add_times(heading.data(), it->direction.data(), share, heading.size());
  const auto length = std::sqrt(sum_of_squares(heading.data(), heading.size()));
  if (!(length > 0)) return std::nullopt;
  double sum = 0;
  for (std::size_t i = 0; i < heading.size(); ++i)
    sum += static_cast<double>(heading[i]) * e.direction[i];
  return sum / length;
}

void History::forget() {
  sizes_.clear();
  headed_.clear();
}

void History::note(const Evidence& e) {
  if (e.stats.finite) remember(judged_, {e.worker, {norm_per_step(e), e.steps}});
  const auto agreed = agreement(e);
  if (!agreed) return;
  notes_.push_back({e.worker, *agreed, e.steps});
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

std::deque<double> History::others(std::int64_t worker, std::size_t own, std::int64_t steps) const {
  std::deque<double> out;
  ages.clear();
  for (auto it = notes_.rbegin(); it != notes_.rend() && own > 0; ++it) {
    if (it->worker == worker)
      --own;
    else
      out.push_front(agreed_for(it->agreed, it->steps, steps));
  }
  return out;
}

double History::usual_norm(std::int64_t steps) const {
  std::vector<double> norms;
  for (const auto& size : sizes_) norms.push_back(norm_for(size, steps));
  return std::max(median(std::move(norms)), judged_norm(steps));
}

double History::judged_norm(std::int64_t steps) const {
  std::vector<double> last, of_each;  // The latest first.
  std::set<std::int64_t> seen;
  for (auto it = judged_.rbegin(); it != judged_.rend(); ++it) {
    const auto norm = norm_for(it->size, steps);
    if (last.size() < kLatest) last.push_back(norm);
    if (seen.insert(it->worker).second) of_each.push_back(norm);
  }
  if (of_each.size() > 1) return median(std::move(of_each));
  return last.size() < kLatest ? 0 : median(std::move(last));
}

double History::median_loss() const { return median(losses_); }

double History::spread_loss() const { return spread(losses_); }

void History::restore(std::deque<Size> sizes, std::deque<double> losses) {
  sizes_ = std::move(sizes);
  losses_ = std::move(losses);
  while (sizes_.size() > kRemembered) sizes_.pop_front();
  while (losses_.size() > kRemembered) losses_.pop_front();
  if (losses_.empty()) return;
  std::tie(least_loss_, most_loss_) =
      std::pair(std::ranges::min(losses_), std::ranges::max(losses_));
}

}  // namespace souk::train
