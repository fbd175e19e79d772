#pragma once

#include <cstdint>

namespace souk::train::testing {

inline constexpr std::int64_t kAnn = 1, kBob = 2, kCarol = 3,
                              kDave = 4;  // Workers, and their owners.

}  // namespace souk::train::testing
