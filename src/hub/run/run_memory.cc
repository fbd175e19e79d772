#include "hub/run/run_memory.h"

#include <algorithm>
#include <utility>

#include "hub/run/tail_average.h"

namespace souk::hub {
namespace {

// Of the parameters and each plane: as they are, and as readers still see them.
constexpr std::size_t kCopies = 2;
constexpr std::size_t kVersions = 2;  // Under check.
constexpr std::size_t kUpdates = 2;   // Beyond those that a fold waits for.
// Of a large model, whose versions and updates lie in files: what is being sent, read and folded of
// it, in hundredths. Measured by bench/large.py.
constexpr std::uint64_t kLargeShare = 120;

}  // namespace

RunMemory::RunMemory(base::Budget* budget, std::string owner, const train::Needs& needs,
                     std::size_t spill_over, bool averages)
    : budget_(budget),
      owner_(std::move(owner)),
      planes_(needs.planes),
      copies_(kCopies * (1 + needs.planes) + kVersions + needs.arity + kUpdates +
              (averages ? 1 : 0)),
      spill_over_(spill_over),
      averages_(averages) {}

std::uint64_t RunMemory::needed(std::uint64_t floats) const {
  const auto bytes = floats * sizeof(float);
  if (bytes <= spill_over_) return bytes * copies_;
  const auto average = averages_ && bytes <= TailAverage::kMost ? bytes : 0;
  return average + bytes * (kLargeShare + 100 * planes_) / 100;
}

RunMemory::~RunMemory() {
  if (budget_ != nullptr) budget_->give_back(owner_, model_ + arriving_);
}

std::size_t RunMemory::most_floats(std::size_t most) const {
  if (budget_ == nullptr) return most;
  const auto room = budget_->limit().each;
  const auto large = room * 100 / (kLargeShare + 100 * planes_) / sizeof(float);
  const auto small = std::min<std::uint64_t>(room / copies_, spill_over_) / sizeof(float);
  const auto fit = large * sizeof(float) > spill_over_ ? large : small;
  return std::min<std::size_t>(most, static_cast<std::size_t>(fit));
}

base::Result<> RunMemory::hold_model(std::size_t floats) {
  if (budget_ == nullptr) return {};
  const auto wanted = needed(floats);
  const std::lock_guard lock(mutex_);
  budget_->give_back(owner_, std::exchange(model_, 0));
  SOUK_TRY(budget_->take(owner_, wanted));
  model_ = wanted;
  return {};
}

base::Result<> RunMemory::arrive(std::size_t bytes) {
  if (budget_ == nullptr) return {};
  const std::lock_guard lock(mutex_);
  if (auto taken = budget_->take(owner_, bytes); !taken) {
    // Others leave again: the sender waits.
    auto error = std::move(taken).error();
    error.code = base::Code::unavailable;
    return std::unexpected(std::move(error));
  }
  arriving_ += bytes;
  return {};
}

void RunMemory::leave(std::size_t bytes) {
  if (budget_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  arriving_ -= bytes;
  budget_->give_back(owner_, bytes);
}

}  // namespace souk::hub
