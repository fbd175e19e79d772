#pragma once

#include <memory>

#include "train/validators/validator.h"

// The makers of the validators, one beside each of them; what each refuses is said there. Their
// arguments were checked against the rows of table.cc.

namespace souk::train {

MakeValidator make_finite, make_norm, make_loss, make_direction, make_score;

}  // namespace souk::train
