#include "hub/folding/pulled_bases.h"

#include <utility>

namespace souk::hub {

void PulledBases::remember(base::LeaseId worker, train::ParameterSnapshot pulled) {
  std::optional<train::ParameterSnapshot> freed = std::move(pulled);  // After the lock.
  const std::lock_guard lock(mutex_);
  auto& [newer, older] = by_worker_[worker];
  if (!newer || newer->version != freed->version) std::swap(newer, older);
  std::swap(newer, freed);
}

std::optional<train::ParameterSnapshot> PulledBases::find(base::LeaseId worker,
                                                          std::int64_t version) const {
  const std::lock_guard lock(mutex_);
  const auto it = by_worker_.find(worker);
  if (it == by_worker_.end()) return std::nullopt;
  for (const auto& base : it->second)
    if (base && base->version == version) return base;
  return std::nullopt;
}

void PulledBases::forget(base::LeaseId worker) {
  decltype(by_worker_)::node_type freed;  // After the lock.
  const std::lock_guard lock(mutex_);
  freed = by_worker_.extract(worker);
}

}  // namespace souk::hub
