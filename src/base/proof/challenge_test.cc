#include "base/proof/challenge.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/proof/multiply.h"
#include "base/random.h"

namespace souk::base {
namespace {

TEST(Challenge, HonestMachinesAgreeWhateverTheirThreads) {
  const std::vector<std::uint64_t> seeds{1, 2, 3, 1};
  const auto all = lanes(seeds, 1'000);
  ASSERT_TRUE(all);
  for (std::size_t i = 0; i < seeds.size(); ++i) EXPECT_EQ(all->results[i], lane(seeds[i], 1'000));
  EXPECT_EQ(all->results[0], all->results[3]);
}

TEST(Challenge, AnOldAnswerDoesNotFitANewChallenge) {
  std::set<std::uint64_t> all;
  for (const std::uint64_t seed : {0, 1, 2})
    for (const int steps : {1, 2, 1'000}) all.insert(lane(seed, steps));
  EXPECT_EQ(all.size(), 9u);
}

// Should this fail, machines with the old and the new program call each other liars: a change needs
// another kind of challenge. Computed by a Python of twenty lines with whole numbers.
TEST(Challenge, StaysTheSameBetweenVersions) {
  EXPECT_EQ(lane(2026, 1'000), 0x94c3fc399d774bf5ULL);
  EXPECT_EQ(pattern_at(2026, 7), 0x64cec26a746b8b77ULL);
}

TEST(Challenge, NobodyCanBeSentOneThatNeverEnds) {
  EXPECT_EQ(lanes({}, 1).error().field, "seeds");
  EXPECT_EQ(lanes(std::vector<std::uint64_t>(4'097), 1).error().field, "seeds");
  EXPECT_EQ(lanes(std::vector<std::uint64_t>{1}, 0).error().field, "steps");
  EXPECT_EQ(lanes(std::vector<std::uint64_t>{1}, kMostLaneSteps + 1).error().field, "steps");
}

TEST(PatternMemory, WhatIsReadIsWhatTheServerComputesWithoutTheMemory) {
  const auto memory = PatternMemory::fill(5, 3, 2);
  ASSERT_TRUE(memory) << memory.error().message;
  for (const int cores : {1, 3}) {
    const auto groups = memory->read(11, cores);
    ASSERT_EQ(std::ssize(groups), kGroups);
    for (const int group : {0, 7, kGroups - 1})
      EXPECT_EQ(groups[static_cast<std::size_t>(group)], group_of(5, 3, 11, group, cores));
    EXPECT_NE(memory->read(12, cores), groups);
    EXPECT_NE(PatternMemory::fill(5, 2, 1)->read(11, cores), groups) << "of less memory";
  }
}

TEST(PatternMemory, TwiceWhatThereIsCannotBeFilled) {
  const auto available = available_mib();
  ASSERT_GT(available, 0);
  const auto filled = PatternMemory::fill(5, available * 2, 1);
  ASSERT_FALSE(filled);
  EXPECT_EQ(filled.error().code, Code::exhausted);
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
  }
}

}  // namespace
}  // namespace souk::base
