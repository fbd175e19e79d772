#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>

#include "base/budget.h"
#include "train/aggregators/aggregator.h"

namespace souk::hub {

// The memory that one training takes of what its owner's trainings, and all together, may take
// (base/budget.h): a model, in as many copies as its aggregator and its checks need, and the
// updates that are arriving. What lies in files (hub/spill.h) is not counted here, so a large model
// takes little more than itself. Given back when it goes. Thread-safe.
class RunMemory {
 public:
  // Without a budget nothing is counted. What is larger than `spill_over` bytes lies in files.
  // `averages`: there is a TailAverage.
  RunMemory(base::Budget* budget, std::string owner, const train::Needs& needs,
            std::size_t spill_over = std::numeric_limits<std::size_t>::max(),
            bool averages = false);
  ~RunMemory();
  RunMemory(const RunMemory&) = delete;
  RunMemory& operator=(const RunMemory&) = delete;

  // The largest model that the limits could ever allow, at most `most`.
  [[nodiscard]] std::size_t most_floats(std::size_t most) const;
  // What is held for a model, instead of what was held for one before.
  base::Result<> hold_model(std::size_t floats);
  // So many bytes more of updates are arriving. unavailable: there is no room now.
  base::Result<> arrive(std::size_t bytes);
  void leave(std::size_t bytes);

 private:
  [[nodiscard]] std::uint64_t needed(std::uint64_t floats) const;

  base::Budget* const budget_;
  const std::string owner_;
  const std::size_t planes_, copies_, spill_over_;
  const bool averages_;
  std::mutex mutex_;  // Guards what follows.
  std::uint64_t model_ = 0, arriving_ = 0;
};

}  // namespace souk::hub
