#pragma once

#include "lab/worlds/population.h"
#include "market/types.h"

// The virtual clock of a market's run.

namespace souk::lab {

inline constexpr base::Time kMarketStart{1'767'571'200'000'000};  // 2026-01-05T00:00:00Z, a Monday.

[[nodiscard]] inline base::Time time_at(double seconds) {
  return kMarketStart + Duration(static_cast<std::int64_t>(seconds * 1e6));
}
[[nodiscard]] inline double seconds_at(base::Time t) { return (t - kMarketStart).seconds(); }

// How long the machine is there and its windows are open, in the first `horizon` seconds.
[[nodiscard]] double seconds_open(const MachineDraw& machine, double horizon);

}  // namespace souk::lab
