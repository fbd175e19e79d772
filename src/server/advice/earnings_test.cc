#include "server/advice/earnings.h"

#include <gtest/gtest.h>

#include "market/testing/world.h"

namespace souk::server {
namespace {

using base::Credits;
using base::hours;
using market::RoundCleared;
using market::testing::World;

// A market in which each hour had the same supply and demand, for so long.
struct Steady {
  World w;
  const market::SlotClass& c1 = *w.s.find_class("c1");

  void pass(int hours_long, std::int32_t supply, std::int32_t demand, std::int32_t leased) {
    for (int i = 0; i < hours_long; ++i) {
      market::apply(w.s, w.now,
                    RoundCleared{.slot_class = c1.id,
                                 .mechanism = "k-double",
                                 .supply = supply,
                                 .demand = demand,
                                 .leased = leased});
      w.now = w.now + hours(1);
    }
  }
  [[nodiscard]] wire::ClassEarnings of(std::int32_t slots) const {
    return expected_earnings(w.s, c1, slots, w.now);
  }
};

TEST(Earnings, AMarketThatIsTooYoungPromisesNothing) {
  const Steady market;
  const auto e = market.of(1);
  EXPECT_FALSE(e.week);
  EXPECT_FALSE(e.used);
  EXPECT_EQ(e.price, market.c1.price);
}

TEST(Earnings, HalfOfTheSlotsInUseIsHalfOfWhatIsPossible) {
  Steady market;
  market.pass(7 * 24, 4, 0, 5);
  const auto e = market.of(1);  // 5 of 10.
  ASSERT_TRUE(e.week);
  const auto most = market.c1.price.micro * 168;
  EXPECT_NEAR(static_cast<double>(e.week->expected.micro), most / 2.0, most / 100.0);
  EXPECT_LE(e.week->low, e.week->expected);
  EXPECT_LE(e.week->expected, e.week->high);
  EXPECT_LT((e.week->high - e.week->low).micro, most / 10) << "all days were alike";
  EXPECT_NEAR(*e.used, 5.0 / 9, 1e-9);
  EXPECT_EQ(*e.unfilled, 0);
}

TEST(Earnings, DemandThatNobodyFilledCountsToo) {
  Steady market;
  market.pass(7 * 24, 0, 3, 0);
  const auto full = market.of(2), more = market.of(6);
  EXPECT_EQ(full.week->expected.micro, market.c1.price.micro * 168 * 2);
  EXPECT_NEAR(static_cast<double>(more.week->expected.micro),
              static_cast<double>(market.c1.price.micro) * 168 * 3, 1e6)
      << "six slots share the demand for three";
  EXPECT_NEAR(*full.unfilled, 3, 0.05);
  EXPECT_FALSE(full.used) << "nothing was on offer";
}

TEST(Earnings, DaysThatDifferMakeAWideIntervalAndOneDayTheWidest) {
  Steady market;
  market.pass(24, 0, 1, 0);
  const auto young = market.of(1);
  EXPECT_EQ(young.week->low, Credits());
  EXPECT_EQ(young.week->high.micro, market.c1.price.micro * 168);
  for (int day = 0; day < 3; ++day) {
    market.pass(24, 1, 0, 0);
    market.pass(24, 0, 1, 0);
  }
  const auto e = market.of(1);
  EXPECT_GT((e.week->high - e.week->low).micro, market.c1.price.micro * 168 / 3);
  EXPECT_LT(e.week->expected, e.week->high);
}

TEST(Earnings, TheOperatorsFeeIsTakenOffAndHoursWithoutAnythingEarnNothing) {
  Steady market;
  auto settings = market.w.s.settings;
  settings.fee_ppm = 500'000;
  market.w.settings(settings);
  market.pass(84, 0, 1, 0);
  market.w.now = market.w.now + hours(84);  // Nothing was wanted or offered.
  const auto e = market.of(1);
  EXPECT_NEAR(static_cast<double>(e.week->expected.micro),
              static_cast<double>(market.c1.price.micro) * 84 / 2, 1e5);
}

}  // namespace
}  // namespace souk::server
