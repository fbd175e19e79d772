#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "base/id.h"
#include "train/pull.h"

namespace souk::hub {

// The two versions of the parameters that each worker pulled last, one for each unit that it may
// have: an aggregator may need what an update was made from,
// and a unit that is done twice must begin from the same. Thread-safe. Shares blocks with whoever
// has them; copies none.
class PulledBases {
 public:
  void remember(base::LeaseId worker, train::ParameterSnapshot pulled);
  // Nothing: the worker has pulled two others since.
  [[nodiscard]] std::optional<train::ParameterSnapshot> find(base::LeaseId worker,
                                                             std::int64_t version) const;
  void forget(base::LeaseId worker);

 private:
  mutable std::mutex mutex_;  // Guards what follows.
  // The newer first.
  std::map<base::LeaseId, std::array<std::optional<train::ParameterSnapshot>, 2>> by_worker_;
};

}  // namespace souk::hub
