#pragma once

#include <cstdint>

// Powers with fractional exponents in integers alone: prices are recorded and replayed, and the
// floating-point libraries of two platforms need not agree on the last digit.

namespace souk::mechanism {

// A logarithm to base 2, in units of 2^-56.
using Log2 = std::int64_t;
inline constexpr Log2 kLog2One = Log2{1} << 56;

// Too low by less than 2^-55. Exact for powers of two; log2_of(2 x) is log2_of(x) + kLog2One.
// Requires x > 0.
[[nodiscard]] Log2 log2_of(std::uint64_t x);

// factor x 2^log, rounded to the nearest integer. What is rounded is off by less than 2^-54 of
// itself, even if `log` is as far off as log2_of may be: an integer result below 2^50 is exact.
// Requires log >= 0 and a result below 2^62.
[[nodiscard]] std::uint64_t times_exp2(std::uint64_t factor, Log2 log);

}  // namespace souk::mechanism
