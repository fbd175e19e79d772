#pragma once

#include <cstdint>

#include "train/session.h"
#include "wire/api/training.h"

// What a training job's description means to the code that trains.

namespace souk::hub {

// A job's work, for at most so many workers.
[[nodiscard]] train::TrainingPlan plan_of(const wire::Train& spec, std::int32_t workers);

// The same, with the aggregator, codec and validators that judge and fold it.
[[nodiscard]] train::Session::Spec session_of(const wire::Train& spec, std::int32_t workers);

// How many samples a step of this unit takes: smaller batches are tried in runs that measure.
[[nodiscard]] std::int32_t batch_of(const wire::Train& spec, std::int64_t unit);

}  // namespace souk::hub
