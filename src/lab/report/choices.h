#pragma once

#include "wire/api/choices.h"

// The tables of mechanisms, aggregators, codecs and validators as the API and `--json` show them.

namespace souk::lab {

[[nodiscard]] wire::Mechanisms mechanism_choices();
// Without models and data, which belong to whoever trains them.
[[nodiscard]] wire::TrainingChoices training_choices();

}  // namespace souk::lab
