#pragma once

#include "base/time.h"

namespace souk::job::testing {

// When files are read in tests.
inline constexpr base::Time kNow(1'000'000'000'000'000);

}  // namespace souk::job::testing
