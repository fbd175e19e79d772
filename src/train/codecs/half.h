#pragma once

#include <cstdint>
#include <span>

// Half-precision floats (IEEE 754 binary16), by the processor's own instructions where it has them.
// Both ways give the same bits everywhere.

namespace souk::train {

// To the nearest, ties to even. What is finite and too large becomes the largest half, 65504;
// infinities stay, and what is no number stays none. `out` is as long as `values`.
void to_half(std::span<const float> values, std::uint16_t* out);
// Exact. `halves` need not be aligned.
void from_half(const void* halves, std::span<float> out);

// What the two above do where the processor lacks the instructions, for the tests.
void to_half_portably(std::span<const float> values, std::uint16_t* out);
void from_half_portably(const void* halves, std::span<float> out);

}  // namespace souk::train
