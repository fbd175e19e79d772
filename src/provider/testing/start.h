#pragma once

#include "base/time.h"

namespace souk::provider::testing {

// When tests begin.
inline constexpr base::Time kStart{1'700'000'000'000'000};

}  // namespace souk::provider::testing
