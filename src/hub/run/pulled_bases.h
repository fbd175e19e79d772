#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "base/id.h"
#include "train/parameters.h"

namespace souk::hub {

// The parameters that each worker pulled last: an aggregator may need what an update was made from,
// and a unit that is done twice must begin from the same. Thread-safe. Shares blocks with whoever
// has them; copies none.
class PulledBases {
 public:
  void remember(base::LeaseId worker, std::int64_t version, train::Blocks blocks);
  // Nothing: the worker did not pull this version last.
  [[nodiscard]] std::optional<train::Blocks> find(base::LeaseId worker, std::int64_t version) const;
  void forget(base::LeaseId worker);

 private:
  struct PulledBase {
    std::int64_t version = 0;
    train::Blocks blocks;
  };
  mutable std::mutex mutex_;  // Guards what follows.
  std::map<base::LeaseId, PulledBase> by_worker_;
};

}  // namespace souk::hub
