#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/api/training.h"
#include "wire/shape.h"

// Where a training may end before its last epoch.

namespace souk::job {

// `target:` of a job file: {accuracy: 0.98}, {loss: 0.1} and so on for what means the same
// everywhere; {metric: f1, at_least: 0.9} or at_most for any other.
[[nodiscard]] base::Result<wire::TrainTarget> read_target(const wire::AnyJson& json);

// What a built-in model's checks come to.
[[nodiscard]] std::vector<std::string_view> measured_by(const wire::Train& train);

// The figure has a name, one bound that it can reach, and is measured: a built-in model measures
// the same figures always, a script whatever it returns. Fields are named below "target".
[[nodiscard]] base::Result<> check_target(const wire::Train& train);

}  // namespace souk::job
