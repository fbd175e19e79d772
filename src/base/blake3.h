#pragma once

#include <string_view>

#include "base/hash.h"

namespace souk::base {

// BLAKE3-256, several chunks of a kilobyte at once with the widest vectors that this processor has
// (SSE4.1, AVX2, AVX-512, or what the compiler makes of four lanes elsewhere). Several times as
// fast as BLAKE2b: names content that moves at the speed of a network. Any thread.
[[nodiscard]] Digest blake3(std::string_view data);

// The same with at most so many lanes: 1, 4, 8 or 16; what the processor lacks is not used. So that
// a test on one machine sees what other machines compute.
[[nodiscard]] Digest blake3(std::string_view data, int most_lanes);

}  // namespace souk::base
