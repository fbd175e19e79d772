#pragma once

#include <cstdint>

#include "base/time.h"
#include "hub/run/time_book.h"
#include "train/session.h"
#include "wire/api/training.h"

namespace souk::hub {

// What people see of a training, but for the bytes and folds that are counted elsewhere. Pure.
[[nodiscard]] wire::Training view_of(const wire::Train& spec, const train::Session& session,
                                     std::int64_t version, const TimeBook& times, base::Time now);

}  // namespace souk::hub
