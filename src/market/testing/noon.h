#pragma once

#include "base/time.h"

namespace souk::market::testing {

inline constexpr base::Time kNoon{1'767'614'400'000'000};  // 2026-01-05T12:00:00Z, a Monday.

}  // namespace souk::market::testing
