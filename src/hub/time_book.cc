#include "hub/time_book.h"

namespace souk::hub {
namespace {

constexpr auto kMost = base::days(2);

bool plausible(const wire::TimeSpent& spent) {
  for (const auto part : wire::kTimeParts)
    if (spent.*part < base::Duration() || spent.*part > kMost) return false;
  return true;
}

void add_to(wire::TimeSpent& sum, const wire::TimeSpent& spent) {
  for (const auto part : wire::kTimeParts) sum.*part = sum.*part + spent.*part;
}

}  // namespace

void TimeBook::add(base::LeaseId worker, const wire::TimeSpent& spent) {
  if (!plausible(spent)) return;
  add_to(of_[worker], spent);
  add_to(all_, spent);
}

wire::TimeSpent TimeBook::of(base::LeaseId worker) const {
  const auto it = of_.find(worker);
  return it == of_.end() ? wire::TimeSpent{} : it->second;
}

}  // namespace souk::hub
