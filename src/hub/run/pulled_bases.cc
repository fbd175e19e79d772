#include "hub/run/pulled_bases.h"

#include <utility>

namespace souk::hub {

void PulledBases::remember(base::LeaseId worker, std::int64_t version, train::Blocks blocks) {
  const std::lock_guard lock(mutex_);
  auto& base = by_worker_[worker];
  base.version = version;
  std::swap(base.blocks, blocks);  // What was there is freed by the caller, after the lock.
}

std::optional<train::Blocks> PulledBases::find(base::LeaseId worker, std::int64_t version) const {
  const std::lock_guard lock(mutex_);
  const auto it = by_worker_.find(worker);
  if (it == by_worker_.end() || it->second.version != version) return std::nullopt;
  return it->second.blocks;
}

void PulledBases::forget(base::LeaseId worker) {
  decltype(by_worker_)::node_type freed;  // After the lock.
  const std::lock_guard lock(mutex_);
  freed = by_worker_.extract(worker);
}

}  // namespace souk::hub
