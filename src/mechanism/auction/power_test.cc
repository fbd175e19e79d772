#include "mechanism/auction/power.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace souk::mechanism {
namespace {

TEST(Power, LogarithmsOfPowersOfTwoAreExact) {
  for (int i = 0; i < 64; ++i) EXPECT_EQ(log2_of(std::uint64_t{1} << i), i * kLog2One);
}

TEST(Power, DoublingAddsExactlyOne) {
  base::Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto x = 1 + random.below(1'000'000'000'000'000);
    ASSERT_EQ(log2_of(2 * x), log2_of(x) + kLog2One) << x;
  }
}

TEST(Power, GoesBackToTheIntegerItCameFrom) {
  base::Random random(2);
  for (int i = 0; i < 50'000; ++i) {
    const auto x = 1 + random.below(std::uint64_t{1} << (1 + random.below(50)));
    ASSERT_EQ(times_exp2(1, log2_of(x)), x);
  }
}

TEST(Power, PerfectSquaresHaveExactRoots) {
  for (std::uint64_t x = 1; x <= 30'000'000; x += 1'009) {
    ASSERT_EQ(times_exp2(1, log2_of(x * x) / 2), x);
    ASSERT_EQ(times_exp2(std::uint64_t{1} << 12, log2_of(x * x) / 2), x << 12);
  }
}

TEST(Power, AgreesWithTheMathLibrary) {
  base::Random random(3);
  for (int i = 0; i < 50'000; ++i) {
    const auto factor = 1 + random.below(1'000'000'000);
    const auto log = random.between(0, 20 * kLog2One);
    const auto exact =
        static_cast<long double>(factor) *
        std::exp2(static_cast<long double>(log) / static_cast<long double>(kLog2One));
    ASSERT_NEAR(static_cast<long double>(times_exp2(factor, log)), exact, 0.51L);
  }
}

TEST(Power, NeverFallsAsTheExponentGrows) {
  std::uint64_t before = 0;
  for (Log2 log = 0; log < 4 * kLog2One; log += kLog2One / 9'973) {
    const auto now = times_exp2(1'000'000'000, log);
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(PowerDeathTest, RefusesWhatHasNoLogarithmOrDoesNotFit) {
  EXPECT_DEATH(std::ignore = log2_of(0), "CHECK");
  EXPECT_DEATH(std::ignore = times_exp2(1, -1), "CHECK");
  EXPECT_DEATH(std::ignore = times_exp2(1, 62 * kLog2One), "CHECK");
  EXPECT_DEATH(std::ignore = times_exp2(std::uint64_t{1} << 61, kLog2One), "CHECK");
}

}  // namespace
}  // namespace souk::mechanism
