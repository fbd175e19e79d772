#include "base/challenge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/multiply.h"
#include "base/random.h"

namespace souk::base {
namespace {

std::string checksum_of(const Challenge& challenge, int threads = 1) {
  const auto got = answer(challenge, threads);
  return got ? got->checksum : got.error().message;
}

// The definition, with nothing done to make it fast.
std::string slow_checksum(const Challenge& k) {
  const auto n = static_cast<std::size_t>(k.size);
  base::Random random(k.seed);
  const auto draw = [&] {
    std::vector<std::uint32_t> m(n * n);
    for (auto& x : m) x = static_cast<std::uint32_t>(random.next() >> 32);
    return m;
  };
  auto a = draw();
  const auto b = draw();
  for (std::uint32_t round = 0; round < static_cast<std::uint32_t>(k.rounds); ++round) {
    std::vector<std::uint32_t> c(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        std::uint32_t x = 0;
        for (std::size_t l = 0; l < n; ++l) x += a[i * n + l] * b[l * n + j];
        x ^= round * 0x9e3779b9U;
        x ^= x >> 16;
        x *= 0x7feb352dU;
        x ^= x >> 15;
        c[i * n + j] = x;
      }
    a = c;
  }
  std::string bytes;
  for (const auto x : a)
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(x >> shift);
  return base::to_string(base::blake2b(bytes));
}

TEST(Challenge, HonestMachinesAgreeWhateverTheirThreads) {
  const Challenge k{.seed = 7, .size = 100, .rounds = 3};
  const auto one = checksum_of(k);
  EXPECT_EQ(one.size(), 64u);
  EXPECT_EQ(checksum_of(k), one);
  for (const int threads : {2, 3, 8, 1000}) EXPECT_EQ(checksum_of(k, threads), one) << threads;
}

TEST(Challenge, AnOldAnswerDoesNotFitANewChallenge) {
  std::set<std::string> all;
  for (const std::uint64_t seed : {0, 1, 2})
    for (const int size : {31, 32, 33})
      for (const int rounds : {1, 2}) all.insert(checksum_of({seed, size, rounds}));
  EXPECT_EQ(all.size(), 18u);
}

TEST(Challenge, TheFastProductIsTheDefinition) {
  for (const int size : {1, 4, 31, 32, 65, 300})
    EXPECT_EQ(checksum_of({.seed = 42, .size = size, .rounds = 2}, 2),
              slow_checksum({.seed = 42, .size = size, .rounds = 2}))
        << size;
}

// Computed by a Python of forty lines (hashlib.blake2b, whole numbers). Should this fail, machines
// with the old and the new program call each other liars: a change needs another name for the
// challenge.
TEST(Challenge, StaysTheSameBetweenVersions) {
  EXPECT_EQ(checksum_of({.seed = 2026, .size = 64, .rounds = 2}),
            "4138777c7a683d7ebb8e14be099c2eca9e1b06a757e5aa9ba1a58e3c60a61e27");
}

TEST(Challenge, NobodyCanBeSentOneThatNeverEnds) {
  struct Row {
    Challenge challenge;
    const char* field;
  };
  for (const auto& row : {Row{{1, 0, 1}, "size"}, Row{{1, -5, 1}, "size"},
                          Row{{1, kMostChallengeSize + 1, 1}, "size"}, Row{{1, 64, 0}, "rounds"},
                          Row{{1, 2048, 9}, "rounds"}, Row{{1, 4096, 2}, "rounds"}}) {
    const auto got = answer(row.challenge, 1);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().field, row.field);
    EXPECT_EQ(got.error().code, base::Code::invalid);
  }
}

// Each vector width: a machine with a wider one must not get another answer.
template <class T>
void expect_products(void (*product)(const T*, const T*, T*, std::size_t, std::size_t,
                                     std::size_t)) {
  for (const std::size_t n : {32, 96, 288}) {
    std::vector<T> a(n * n), b(n * n), packed(n * n), c(n * n, 99);
    base::Random random(3);
    // Small whole numbers: exact in whatever order they are added.
    for (auto* m : {&a, &b})
      for (auto& x : *m) x = static_cast<T>(random.between(-8, 8));
    pack(b.data(), packed.data(), n);
    product(a.data(), packed.data(), c.data(), n, 0, 20);
    product(a.data(), packed.data(), c.data(), n, 20, n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        T sum = 0;
        for (std::size_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
        ASSERT_EQ(c[i * n + j], sum) << i << ' ' << j;
      }
  }
}

TEST(Multiply, EveryVectorWidthGivesTheProduct) {
  for (const auto& kernel : kernels()) {
    SCOPED_TRACE(kernel.name);
    expect_products(kernel.real);
    expect_products(kernel.whole);
  }
}

}  // namespace
}  // namespace souk::base
