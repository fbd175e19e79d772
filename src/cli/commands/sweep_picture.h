#pragma once

#include <string>

#include "wire/api/sweep.h"

// A sweep for people, in files: what `souk results` writes beside the best trial's. Pure.

namespace souk::cli {

// A row for each trial: number, job, state, each parameter, epoch, metric, credits.
[[nodiscard]] std::string sweep_csv(const wire::SweepStatus& status);

// Parallel coordinates: an axis for each parameter and one for the metric, a line for each trial
// that reported, the better the darker; the best stands out. Empty where nothing was reported.
[[nodiscard]] std::string sweep_svg(const wire::SweepStatus& status);

}  // namespace souk::cli
