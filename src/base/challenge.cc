#include "base/challenge.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/multiply.h"
#include "base/random.h"
#include "base/threads.h"

namespace souk::base {
namespace {

constexpr std::int32_t kMostThreads = 1024;

using Matrix = std::vector<std::uint32_t>;

Matrix random_matrix(Random& random, std::size_t size, std::size_t padded) {
  Matrix out(padded * padded);
  for (std::size_t row = 0; row < size; ++row)
    for (std::size_t column = 0; column < size; ++column)
      out[row * padded + column] = static_cast<std::uint32_t>(random.next() >> 32);
  return out;
}

// One to one, and not linear modulo 2^32. Part of what all machines must agree on.
std::uint32_t mixed(std::uint32_t x, std::uint32_t round) {
  x ^= round * 0x9e3779b9U;
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  return x;
}

std::string checksum(const Matrix& m, std::size_t size, std::size_t padded) {
  static_assert(std::endian::native == std::endian::little);
  Bytes bytes;
  bytes.reserve(size * size * 4);
  for (std::size_t row = 0; row < size; ++row)
    bytes.append(reinterpret_cast<const char*>(&m[row * padded]), size * 4);
  return to_string(blake2b(bytes));
}

}  // namespace

Result<Answer> answer(const Challenge& challenge, std::int32_t threads) {
  const auto size = challenge.size, rounds = challenge.rounds;
  if (size < 1 || size > kMostChallengeSize)
    return fail(Code::invalid, fmt::format("a challenge of size {}", size),
                fmt::format("1 to {}", kMostChallengeSize), "size");
  const auto most = kMostChallengeWork / (std::int64_t{size} * size * size);
  if (rounds < 1 || rounds > most)
    return fail(Code::invalid, fmt::format("a challenge of {} rounds of size {}", rounds, size),
                fmt::format("1 to {} rounds of that size", most), "rounds");

  const auto n = static_cast<std::size_t>(size);
  const auto padded = (n + kPad - 1) / kPad * kPad;
  Random random(challenge.seed);
  auto a = random_matrix(random, n, padded);
  const auto b = random_matrix(random, n, padded);
  Matrix packed(b.size()), c(b.size());
  threads = std::clamp(threads, 1, std::min(kMostThreads, static_cast<std::int32_t>(padded / 4)));

  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  pack(b.data(), packed.data(), padded);
  for (std::int32_t round = 0; round < rounds; ++round) {
    on_threads(threads, [&](std::int32_t self, std::int32_t count, auto&) {
      const auto first = share(padded / 4, self, count) * 4;
      const auto last = share(padded / 4, self + 1, count) * 4;
      multiply(a.data(), packed.data(), c.data(), padded, first, last);
      // Not the padding: it must stay zero.
      for (auto r = first; r < std::min(last, n); ++r)
        for (std::size_t j = 0; j < n; ++j)
          c[r * padded + j] = mixed(c[r * padded + j], static_cast<std::uint32_t>(round));
    });
    std::swap(a, c);
  }
  const auto seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return Answer{checksum(a, n, padded), seconds};
}

}  // namespace souk::base
