#pragma once

#include <cstdint>
#include <string>

#include "wire/api/training.h"

namespace souk::job {

// The aggregator of a training whose file names none, by what was measured of such trainings
// (docs/decisions/0094-rounds-by-the-clock.md). Empty: the one of all others.
[[nodiscard]] std::string usual_rule(const wire::Train& train, std::int32_t workers);

}  // namespace souk::job
