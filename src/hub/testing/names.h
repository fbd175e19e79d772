#pragma once

#include <string>

#include "base/id.h"
#include "base/time.h"

// Two workers, a moment and a secret, for tests that need no more of a hub.

namespace souk::hub::testing {

inline constexpr base::LeaseId kAnn{7}, kBob{8};
inline constexpr base::Time kNow(1'000'000);

inline const std::string kSecret = "a secret of the test's own";

}  // namespace souk::hub::testing
