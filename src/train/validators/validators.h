#pragma once

#include <memory>
#include <optional>

#include "train/validators/validator.h"

// The makers of the validators, one in each validator_*.cc; what each refuses is said there.

namespace souk::train {

// `factor`: what follows the colon of a spec, if anything does; above 1.
using MakeValidator = std::unique_ptr<Validator>(std::optional<double> factor);

MakeValidator make_finite, make_norm, make_loss, make_direction;

}  // namespace souk::train
