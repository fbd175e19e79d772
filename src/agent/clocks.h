#pragma once

#include <chrono>

#include "base/clock.h"

namespace souk::agent {

// For waits and for what work took: a wall clock that is set anew does not disturb it.
class SteadyClock final : public base::Clock {
 public:
  base::Time now() const override {
    using namespace std::chrono;
    return base::Time(
        duration_cast<std::chrono::microseconds>(steady_clock::now().time_since_epoch()).count());
  }
};

inline const base::SystemClock kWallClock;
inline const SteadyClock kSteadyClock;

}  // namespace souk::agent
