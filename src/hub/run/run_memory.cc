#include "hub/run/run_memory.h"

#include <algorithm>
#include <utility>

namespace souk::hub {
namespace {

// Of the parameters and each plane: as they are, as readers still see them, in a snapshot.
constexpr std::size_t kCopies = 3;
constexpr std::size_t kVersions = 2;  // Under check.
constexpr std::size_t kUpdates = 2;   // Beyond those that a fold waits for.

}  // namespace

RunMemory::RunMemory(base::Budget* budget, std::string owner, const train::Needs& needs)
    : budget_(budget),
      owner_(std::move(owner)),
      copies_(kCopies * (1 + needs.planes) + kVersions + needs.arity + kUpdates) {}

RunMemory::~RunMemory() {
  if (budget_ != nullptr) budget_->give_back(owner_, model_ + arriving_);
}

std::size_t RunMemory::most_floats(std::size_t most) const {
  if (budget_ == nullptr) return most;
  const auto fit = budget_->limit().each / (copies_ * sizeof(float));
  return std::min<std::size_t>(most, static_cast<std::size_t>(fit));
}

base::Result<> RunMemory::hold_model(std::size_t floats) {
  if (budget_ == nullptr) return {};
  const std::uint64_t wanted = floats * copies_ * sizeof(float);
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
