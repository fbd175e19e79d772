#include "hub/run/time_book.h"

namespace souk::hub {
namespace {

constexpr auto kLongestPart = base::days(2);

bool plausible(const wire::TimeSpent& spent) {
  for (const auto part : wire::kTimeParts)
    if (spent.*part < base::Duration() || spent.*part > kLongestPart) return false;
  return true;
}

void add_to(wire::TimeSpent& sum, const wire::TimeSpent& spent) {
  for (const auto part : wire::kTimeParts) sum.*part = sum.*part + spent.*part;
}

}  // namespace

void TimeBook::did(base::LeaseId worker, std::int32_t batch, std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  did_[worker] = {.batch = batch, .steps = steps};
}

bool TimeBook::add(base::LeaseId worker, const wire::TimeSpent& spent) {
  const std::lock_guard lock(mutex_);
  const auto done = did_.extract(worker);
  if (!plausible(spent)) return false;
  add_to(of_[worker], spent);
  add_to(all_, spent);
  if (!done) return true;
  const auto batch = done.mapped().batch;
  auto& sum = by_batch_.try_emplace(batch, wire::BatchTime{.batch = batch}).first->second;
  sum.steps += done.mapped().steps;
  sum.compute = sum.compute + spent.compute;
  return true;
}

wire::TimeSpent TimeBook::all() const {
  const std::lock_guard lock(mutex_);
  return all_;
}

std::vector<wire::BatchTime> TimeBook::by_batch() const {
  const std::lock_guard lock(mutex_);
  std::vector<wire::BatchTime> out;
  for (const auto& [batch, time] : by_batch_) out.push_back(time);
  return out;
}

wire::TimeSpent TimeBook::of(base::LeaseId worker) const {
  const std::lock_guard lock(mutex_);
  const auto it = of_.find(worker);
  return it == of_.end() ? wire::TimeSpent{} : it->second;
}

}  // namespace souk::hub
