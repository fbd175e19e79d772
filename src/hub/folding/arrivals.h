#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "hub/run/run_memory.h"
#include "hub/spill.h"

namespace souk::hub {

// Updates that workers are sending to the market, piece by piece: at most one of each worker, which
// sends those of its units one after the other. Large ones lie in files (hub/spill.h). What gets no
// more pieces for kForgottenAfter is dropped, so that who never ends an update holds nothing for
// long. Thread-safe; while a piece is copied or written only its own update is locked.
class Arrivals {
 public:
  // What arrives takes of `memory` until it is taken or forgotten.
  explicit Arrivals(RunMemory& memory, SpillOptions spill = {})
      : memory_(memory), spill_(std::move(spill)) {}

  // Longer than a piece takes over a line of 20 kB/s.
  static constexpr base::Duration kForgottenAfter = base::minutes(10);

  // Gives how many bytes of the unit's update have arrived. Pieces may arrive twice, but leave no
  // gap; an update has at most `most` bytes. Replaces what the worker sent for an earlier unit.
  // unavailable: there is no room for it now.
  base::Result<std::int64_t> add(base::LeaseId worker, std::int64_t unit, std::int64_t offset,
                                 std::string_view piece, std::size_t most, base::Time now);
  // What has arrived, which is then forgotten here. Empty: nothing.
  base::Result<std::shared_ptr<const train::KeptBytes>> take(base::LeaseId worker,
                                                             std::int64_t unit);
  void forget(base::LeaseId worker);
  // That ever arrived, without repeated pieces.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  struct PartialUpdate {
    explicit PartialUpdate(const SpillOptions& spill) : body(spill) {}
    std::mutex mutex;  // Guards what follows. Taken after mutex_.
    std::int64_t unit = 0;
    ArrivingBytes body;
    base::Time last;
    bool left = false;  // Nobody finds it any more.
  };
  // These require the update's mutex.
  base::Result<std::int64_t> add(PartialUpdate& update, std::int64_t offset, std::string_view piece,
                                 std::size_t most);
  base::Result<> append(PartialUpdate& update, std::size_t at, std::string_view piece);
  void drop(PartialUpdate& update);
  // Requires mutex_.
  void drop_idle(base::Time now);

  RunMemory& memory_;
  const SpillOptions spill_;
  mutable std::mutex mutex_;  // Guards what follows.
  std::map<base::LeaseId, std::shared_ptr<PartialUpdate>> by_worker_;
  base::Time looked_;  // For idle ones.
  std::atomic<std::int64_t> bytes_ = 0;
};

}  // namespace souk::hub
