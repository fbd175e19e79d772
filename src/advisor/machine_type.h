#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/credits.h"

namespace souk::advisor {

using base::Credits;

// A type of machine as one job sees it: what it costs, how fast the job runs on it, how long such
// machines stay, and how far off earlier forecasts were.
struct MachineType {
  std::string name;
  std::int32_t quota = 0;  // How many can be had.
  Credits price;           // Per machine and hour.
  double batch = 1;        // Samples in one step of one machine.
  // Seconds of a step, exchange with the hub excluded: compute_seconds() of a measured one.
  double compute_s = 0;
  std::int32_t gpus = 1;  // Each moves the model over PCIe in every step.
  double revocations_per_hour = 0;
  // Of earlier runs on such machines: time it took / time forecast - 1. In any order.
  std::vector<double> residuals = {};
};

// How many machines of each type, by position.
using Mix = std::vector<std::int32_t>;

[[nodiscard]] std::int32_t machines_in(const Mix& mix);
// "2 x p3.2xlarge + 1 x g3.8xlarge".
[[nodiscard]] std::string describe(const Mix& mix, std::span<const MachineType> types);

}  // namespace souk::advisor
