#include <gtest/gtest.h>

#include <limits>

#include "market/tally.h"

namespace souk::market {
namespace {

TEST(Tally, WaitsAreKnownToAFactorOfTwo) {
  Tally t;
  EXPECT_FALSE(t.wait(0.5));
  for (int i = 0; i < 9; ++i) t.waited(base::seconds(3));
  t.waited(base::minutes(10));
  EXPECT_EQ(t.wait(0.5), base::seconds(4));
  EXPECT_EQ(t.wait(0.9), base::seconds(4));
  EXPECT_EQ(t.wait(0.95), base::seconds(1024));
  t.waited(base::hours(24 * 365 * 200));
  EXPECT_EQ(t.wait(1), base::seconds(std::int64_t{1} << 31));
}

TEST(Tally, SumsStopRatherThanTurnNegative) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(add_saturating(most - 1, 5), most);
  EXPECT_EQ(add_saturating(-most, -5), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(add_saturating(2, 3), 5);
}

TEST(Tally, ManyMechanismsAreRememberedButNotEndlessly) {
  Tallies t;
  for (int i = 0; i < 200; ++i) {
    t.in_force = "m" + std::to_string(i);
    ++t.now().rounds;
  }
  EXPECT_LE(t.of.size(), kTallies + 1);
  EXPECT_GT(t.of.at("").rounds, 100);
}

}  // namespace
}  // namespace souk::market
