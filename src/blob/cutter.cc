#include "blob/cutter.h"

#include <algorithm>
#include <array>
#include <cstdint>

// FastCDC (Xia and others, 2016): a rolling sum of a random number for each byte, shifted by one
// bit a byte, so that it depends on the last 64 of them; where its high bits are zero there is a
// cut. More of them have to be zero before the usual size than after it, which keeps sizes
// together.

namespace souk::blob {
namespace {

constexpr int kBitsBefore = 23, kBitsAfter = 19;

// SplitMix64 from a seed of our own.
constexpr auto kGear = [] {
  std::array<std::uint64_t, 256> out{};
  std::uint64_t state = 0x736f756b20637574;  // "souk cut"
  for (auto& value : out) {
    state += 0x9e3779b97f4a7c15;
    auto z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    value = z ^ (z >> 31);
  }
  return out;
}();

}  // namespace

std::size_t cut(std::string_view rest) {
  const auto most = std::min(rest.size(), kChunkBytes);
  const auto usual = std::min(most, kUsualCut);
  std::uint64_t sum = 0;
  std::size_t at = kLeastCut;
  const auto look = [&](std::size_t end, int bits) {
    for (; at < end; ++at) {
      sum = (sum << 1) + kGear[static_cast<unsigned char>(rest[at])];
      if (sum >> (64 - bits) == 0) return true;
    }
    return false;
  };
  if (look(usual, kBitsBefore) || look(most, kBitsAfter)) return at + 1;
  return most;
}

}  // namespace souk::blob
