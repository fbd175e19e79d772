#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "market/tally.h"

namespace souk::market {
namespace {

using namespace base::literals;

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

TEST(Tally, AlphaIsTheDistanceFromCompetitivePrices) {
  Tally t;
  EXPECT_FALSE(t.alpha());
  t.priced(110_cr, 100_cr, 3);
  t.priced(80_cr, 100_cr, 1);
  t.priced(5_cr, std::nullopt, 9);  // Unknown: does not count.
  EXPECT_NEAR(*t.alpha(), std::sqrt((3 * .01 + .04) / 4), 1e-6);
  t.priced(Credits(base::kMostCredits), Credits(1), 1'000'000);  // Far off counts as 100 times.
  EXPECT_NEAR(*t.alpha(), 100, .01);
}

TEST(Tally, VolatilityIsTheDeviationOfTheLogPrice) {
  Tally t;
  const double prices[] = {1, 1.1, .7, 2.5, 2.5, .000001, 1e6};
  std::vector<double> steps;
  for (std::size_t i = 0; i < std::size(prices); ++i) {
    EXPECT_EQ(t.volatility().has_value(), i >= 3);
    t.priced(Credits(std::llround(prices[i] * 1e6)), std::nullopt, 1);
    t.priced(Credits(), std::nullopt, 1);  // Nothing was paid: no step.
    if (i > 0) steps.push_back(std::log(prices[i] / prices[i - 1]));
  }
  double mean = 0, squares = 0;
  for (const auto s : steps) mean += s / static_cast<double>(steps.size());
  for (const auto s : steps) squares += (s - mean) * (s - mean);
  EXPECT_NEAR(*t.volatility(), std::sqrt(squares / static_cast<double>(steps.size() - 1)), 1e-5);
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
