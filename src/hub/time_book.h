#pragma once

#include <map>

#include "base/id.h"
#include "wire/training.h"

namespace souk::hub {

// Where the time of a training's workers went, as they tell it. Not part of snapshots: it begins
// anew with the process. Not thread-safe.
class TimeBook {
 public:
  // More than a worker can have spent between two units is not believed.
  void add(base::LeaseId worker, const wire::TimeSpent& spent);
  [[nodiscard]] wire::TimeSpent of(base::LeaseId worker) const;
  [[nodiscard]] const wire::TimeSpent& all() const { return all_; }

 private:
  std::map<base::LeaseId, wire::TimeSpent> of_;
  wire::TimeSpent all_;
};

}  // namespace souk::hub
