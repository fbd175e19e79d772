#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/result.h"
#include "hub/run/run_memory.h"

namespace souk::hub {

// Updates that workers are sending to the market, piece by piece: at most one of each worker, which
// sends those of its units one after the other. Thread-safe; its lock is held while a piece is
// copied, so the core thread never calls it.
class Arrivals {
 public:
  // What arrives takes of `memory` until it is taken or forgotten.
  explicit Arrivals(RunMemory& memory) : memory_(memory) {}

  // Gives how many bytes of the unit's update have arrived. Pieces may arrive twice, but leave no
  // gap; an update has at most `most` bytes. Replaces what the worker sent for an earlier unit.
  // unavailable: there is no room for it now.
  base::Result<std::int64_t> add(base::LeaseId worker, std::int64_t unit, std::int64_t offset,
                                 std::string_view piece, std::size_t most);
  // What has arrived, which is then forgotten here. Empty: nothing.
  [[nodiscard]] std::string take(base::LeaseId worker, std::int64_t unit);
  void forget(base::LeaseId worker);
  // That ever arrived, without repeated pieces.
  [[nodiscard]] std::int64_t bytes() const;

 private:
  struct PartialUpdate {
    std::int64_t unit = 0;
    std::string body;
  };
  void drop(PartialUpdate& update);  // Requires mutex_.

  RunMemory& memory_;
  mutable std::mutex mutex_;  // Guards what follows.
  std::map<base::LeaseId, PartialUpdate> by_worker_;
  std::int64_t bytes_ = 0;
};

}  // namespace souk::hub
