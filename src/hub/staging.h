#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "hub/spill.h"

namespace souk::hub {

struct StagingLimits {
  std::size_t most_bytes = std::size_t{256} << 20;  // Of one update,
  std::size_t most_in_all = std::size_t{2} << 30;   // of all together,
  std::size_t most = 1'024;                         // and how many.
  SpillOptions spill = {};                          // Where large ones lie.
  base::Duration forgotten_after = base::minutes(10);
};

// Updates on their way from workers, piece by piece, until the market has them judged and folded or
// dropped. In memory or in files without names: what is lost with the process, or forgotten because
// nobody asked for it, is done again by some worker. What is full says so. Thread-safe; time comes
// with each call.
class Staging {
 public:
  explicit Staging(StagingLimits limits = {}) : limits_(std::move(limits)) {}

  // Gives how much of it there is. Pieces may arrive twice, but not after take().
  base::Result<std::int64_t> put(const std::string& name, std::int64_t offset,
                                 std::string_view piece, base::Time now);
  // What has arrived. From now on it stays as it is: what was judged is what is folded.
  base::Result<std::shared_ptr<const train::KeptBytes>> take(const std::string& name);
  void drop(const std::string& name);

  struct Usage {
    std::int64_t updates = 0, bytes = 0;
  };
  [[nodiscard]] Usage usage() const;

 private:
  struct StagedUpdate {
    ArrivingBytes arriving;
    std::size_t size = 0;
    base::Time last;
    std::shared_ptr<const train::KeptBytes> taken = {};
  };
  void forget_old(base::Time now);
  void erase(std::map<std::string, StagedUpdate>::iterator at);

  const StagingLimits limits_;
  mutable std::mutex mutex_;  // Guards what follows.
  std::map<std::string, StagedUpdate> updates_;
  std::size_t bytes_ = 0;
};

}  // namespace souk::hub
