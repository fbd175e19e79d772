#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "base/id.h"
#include "train/parameters.h"

namespace souk::hub {

// The two versions of the parameters that each worker pulled last, one for each unit that it may
// have: an aggregator may need what an update was made from,
// and a unit that is done twice must begin from the same. Thread-safe. Shares blocks with whoever
// has them; copies none.
class PulledBases {
 public:
  void remember(base::LeaseId worker, std::int64_t version, train::Blocks blocks);
  // Nothing: the worker has pulled two others since.
  [[nodiscard]] std::optional<train::Blocks> find(base::LeaseId worker, std::int64_t version) const;
  void forget(base::LeaseId worker);

 private:
  struct PulledBase {
    std::int64_t version = -1;
    train::Blocks blocks;
  };
  mutable std::mutex mutex_;                                      // Guards what follows.
  std::map<base::LeaseId, std::array<PulledBase, 2>> by_worker_;  // The newer first.
};

}  // namespace souk::hub
