#include "mechanism/auction/power.h"

#include <array>
#include <bit>

#include "base/check.h"

namespace souk::mechanism {
namespace {

using Wide = unsigned __int128;

// Numbers in [1, 2) are held as x 2^63.
constexpr std::uint64_t kOne = std::uint64_t{1} << 63;
constexpr int kFraction = 56;

// The largest r with r x r <= x.
constexpr std::uint64_t root(Wide x) {
  Wide r = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const auto tried = r | Wide{1} << bit;
    if (tried * tried <= x) r = tried;
  }
  return static_cast<std::uint64_t>(r);
}

// kRoots[i] is 2 to the power 2^-(i+1).
constexpr auto kRoots = [] {
  std::array<std::uint64_t, kFraction> roots{};
  Wide square = Wide{1} << 127;  // Of the square root of two.
  for (auto& r : roots) {
    r = root(square);
    square = static_cast<Wide>(r) << 63;
  }
  return roots;
}();

}  // namespace

Log2 log2_of(std::uint64_t x) {
  CHECK(x > 0);
  const auto whole = std::bit_width(x) - 1;
  auto mantissa = x << (63 - whole);
  Log2 log = whole;
  // Squaring doubles the logarithm: whether it passes two is the next binary digit.
  for (int i = 0; i < kFraction; ++i) {
    const auto square = static_cast<Wide>(mantissa) * mantissa;
    const bool passed = square >> 127 != 0;
    mantissa = static_cast<std::uint64_t>(square >> (passed ? 64 : 63));
    log = log << 1 | (passed ? 1 : 0);
  }
  return log;
}

std::uint64_t times_exp2(std::uint64_t factor, Log2 log) {
  CHECK(log >= 0);
  const auto whole = static_cast<int>(log >> kFraction);
  auto digits = static_cast<std::uint64_t>(log & (kLog2One - 1));
  auto power = kOne;
  while (digits != 0) {
    const auto lowest = std::countr_zero(digits);
    const auto product = static_cast<Wide>(power) * kRoots[kFraction - 1 - lowest];
    power = static_cast<std::uint64_t>((product + (Wide{1} << 62)) >> 63);
    digits &= digits - 1;
  }
  const auto exact = static_cast<Wide>(factor) * power;
  CHECK(whole < 62 && exact >> (125 - whole) == 0);
  return static_cast<std::uint64_t>((exact + (Wide{1} << (62 - whole))) >> (63 - whole));
}

}  // namespace souk::mechanism
