#include "base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace souk::base {
namespace {

// Published outputs of SplitMix64 for the seed 1234567 (Rosetta Code, from Vigna's reference code).
TEST(Random, DrawsCanBeAuditedAgainstAnyOtherSplitMix64) {
  Random random(1234567);
  for (const auto expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                              4593380528125082431u, 16408922859458223821u})
    EXPECT_EQ(random.next(), expected);
}

TEST(Random, BelowStaysBelowAndFavoursNobody) {
  Random random(1);
  for (const std::uint64_t n : {1ull, 2ull, 3ull, 1000ull, 1ull << 63, ~0ull})
    for (int i = 0; i < 1000; ++i) ASSERT_LT(random.below(n), n);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) ++counts[random.below(6)];
  for (const auto count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(Random, BetweenReachesBothEndsOfAnyRange) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  Random random(2);
  bool low = false, high = false, negative = false, positive = false;
  for (int i = 0; i < 1000; ++i) {
    const auto draw = random.between(-2, 2);
    ASSERT_TRUE(draw >= -2 && draw <= 2);
    low |= draw == -2;
    high |= draw == 2;
    const auto wide = random.between(lowest, highest);
    negative |= wide < 0;
    positive |= wide > 0;
    ASSERT_LE(random.between(lowest, 5), 5);
    ASSERT_GE(random.between(-5, highest), -5);
  }
  EXPECT_TRUE(low && high && negative && positive);
  EXPECT_EQ(random.between(7, 7), 7);
}

TEST(Random, ShuffleKeepsEveryItem) {
  Random random(3);
  std::vector<int> items{1, 2, 3, 4, 5, 6, 7, 8};
  const auto before = items;
  random.shuffle(items);
  EXPECT_NE(items, before);
  EXPECT_THAT(items, ::testing::UnorderedElementsAreArray(before));
}

TEST(Random, ChanceIsAboutOneIn) {
  Random random(4);
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) hits += random.chance(10);
  EXPECT_NEAR(hits, 1000, 150);
  EXPECT_TRUE(random.chance(1));
}

TEST(RandomDeathTest, AnEmptyRangeIsOurBug) {
  Random random(5);
  EXPECT_DEATH(random.below(0), "CHECK");
  EXPECT_DEATH(random.between(2, 1), "CHECK");
}

}  // namespace
}  // namespace souk::base
