#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/clock.h"

namespace souk::server {

// Since some moment, whatever anybody sets clocks to.
inline base::Duration steady_time() {
  return base::Duration(std::chrono::duration_cast<std::chrono::microseconds>(
                            std::chrono::steady_clock::now().time_since_epoch())
                            .count());
}

// The time of a market: that of the wall, but it never goes back and never stands still. When the
// wall's clock was set back, or the market's history is ahead of it, the market's time goes on at
// half the speed until the wall has caught up. Safe from any thread.
class MarketClock final : public base::Clock {
 public:
  using Steady = base::Duration (*)();

  // `wall` outlives this.
  MarketClock(const base::Clock& wall, base::Time not_before, Steady steady = &steady_time)
      : wall_(wall), steady_(steady), last_(not_before), read_(steady()) {}

  [[nodiscard]] base::Time now() const override {
    const std::scoped_lock lock(mutex_);
    const auto steady = steady_();
    const auto passed = std::max(steady - read_, base::Duration());
    const auto wall = wall_.now();
    if (wall < last_ && passed.us < 2) return last_;  // Too little to halve: it adds up.
    last_ = std::max(wall, last_ + passed / 2);
    read_ = steady;
    return last_;
  }

 private:
  const base::Clock& wall_;
  const Steady steady_;
  mutable std::mutex mutex_;
  mutable base::Time last_;
  mutable base::Duration read_;
};

}  // namespace souk::server
