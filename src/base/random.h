#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/check.h"

namespace souk::base {

// A small generator (SplitMix64) whose whole state is one number, so that a draw recorded with its
// seed can be audited on any platform. Not for secrets.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, n): multiply-shift with rejection, so no value is favoured.
  constexpr std::uint64_t below(std::uint64_t n) {
    CHECK(n > 0);
    const std::uint64_t threshold = (0 - n) % n;
    while (true) {
      const auto product = static_cast<unsigned __int128>(next()) * n;
      if (static_cast<std::uint64_t>(product) >= threshold)
        return static_cast<std::uint64_t>(product >> 64);
    }
  }

  // Uniform in [low, high].
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) {
    CHECK(low <= high);
    // Unsigned, because high - low may not fit a signed number.
    const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    const auto draw = span + 1 == 0 ? next() : below(span + 1);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + draw);
  }

  // Uniform in [0, 1).
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  constexpr bool chance(std::uint64_t one_in) { return below(one_in) == 0; }

  template <class Sequence>
  constexpr void shuffle(Sequence& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace souk::base
