#pragma once

#include "wire/api/training.h"

namespace souk::server {

// Operations that training on one sample takes, forward and backward: what a first guess at a
// model's pace rests on. 0: the model is not one of the built-in trainer's.
[[nodiscard]] double sample_operations(const wire::Train& train);

// What a usual core does of them a second with small batches (0.3 to 0.9 of 10^11 were measured,
// of the built-in models beside other work), and what a step costs beside them.
inline constexpr double kOperationsPerSecond = 4e10;
inline constexpr double kStep = 1e-4;
// A GPU waits for its next kernel most of a small step.
inline constexpr double kGpuOperationsPerSecond = 5e12;
inline constexpr double kGpuStep = 1e-3;

}  // namespace souk::server
