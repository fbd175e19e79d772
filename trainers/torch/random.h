#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace souk::trainer {

// SplitMix64. The order of a shard's samples is part of the worker protocol, so the generator is
// ours: std::shuffle gives another order with another standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, n), n > 0: the high half of a 128-bit product, with rejection, so that no value
  // is favoured.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (true) {
      const Wide product = static_cast<Wide>(next()) * n;
      if (static_cast<std::uint64_t>(product) >= threshold)
        return static_cast<std::uint64_t>(product >> 64);
    }
  }

  // Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t state_;
};

// The order in which the `n` samples of a shard are visited: Fisher-Yates from the back,
// `swap(order[i - 1], order[below(i)])` for i = n ... 2.
inline std::vector<std::int64_t> permutation(std::int64_t n, std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  Random random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace souk::trainer
