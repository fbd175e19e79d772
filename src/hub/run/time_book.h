#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "base/id.h"
#include "wire/api/training.h"

namespace souk::hub {

// Where the time of a training's workers went, as they tell it. Not part of snapshots: it begins
// anew with the process. Thread-safe.
class TimeBook {
 public:
  // The worker did this since it last told about its time.
  void did(base::LeaseId worker, std::int32_t batch, std::int64_t steps);
  // More than a worker can have spent between two units is not believed: false.
  bool add(base::LeaseId worker, const wire::TimeSpent& spent);
  [[nodiscard]] wire::TimeSpent of(base::LeaseId worker) const;
  [[nodiscard]] wire::TimeSpent all() const;
  [[nodiscard]] std::vector<wire::BatchTime> by_batch() const;

 private:
  mutable std::mutex mutex_;  // Guards what follows.
  std::map<base::LeaseId, wire::TimeSpent> of_;
  std::map<base::LeaseId, wire::BatchTime> did_;
  std::map<std::int32_t, wire::BatchTime> by_batch_;
  wire::TimeSpent all_;
};

}  // namespace souk::hub
