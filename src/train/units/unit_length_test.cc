#include "train/units/unit_length.h"

#include <gtest/gtest.h>

namespace souk::train {
namespace {

using base::Duration;

Duration duration_of(double s) { return Duration(static_cast<std::int64_t>(s * 1e6)); }

// A worker that needs `step` seconds a step and `exchange` seconds an exchange, `units` units
// later. What travels while it computes costs it nothing.
void work(UnitLength& length, double step, double exchange, int units, bool overlapped = true,
          int at_work = 1) {
  for (int i = 0; i < units; ++i) {
    const auto computed = step * static_cast<double>(length.steps());
    const auto waited = overlapped ? std::max(0.0, exchange - computed) : exchange;
    length.measured(duration_of(computed), duration_of(waited), at_work);
  }
}

TEST(UnitLength, StepsThatTakeLongerThanAnExchangeAreSentOneByOne) {
  UnitLength length(64);
  work(length, 1.0, 0.2, 100);
  EXPECT_EQ(length.steps(), 1);
}

TEST(UnitLength, AnExchangeFitsIntoTheTimeThatAUnitComputes) {
  UnitLength length(64);
  work(length, 0.3, 2.0, 100);
  EXPECT_GE(length.steps(), 6);
  EXPECT_LE(length.steps(), 8);
}

TEST(UnitLength, ASlowLineIsKnownAfterAFewExchanges) {
  UnitLength length(64);
  work(length, 0.2, 10, 10);
  EXPECT_GE(length.steps(), 45);
}

TEST(UnitLength, WithoutOverlapUnitsGrowUntilTheExchangeIsASmallPart) {
  UnitLength length(64);
  work(length, 0.2, 0.4, 200, false);
  EXPECT_LE(0.4, 0.1 * (0.4 + 0.2 * static_cast<double>(length.steps())));
  EXPECT_LT(length.steps(), 64);
}

TEST(UnitLength, StepsOfAMillisecondDoNotFloodTheMarket) {
  UnitLength length(1000);
  work(length, 0.001, 0.0005, 100);
  EXPECT_GE(length.steps(), 50);
  EXPECT_LE(length.steps(), 60);
  work(length, 0.001, 0.0005, 100, true, 100);
  EXPECT_GE(length.steps(), 500) << "a hundred workers, two hundred units a second";
  EXPECT_LE(length.steps(), 600);
}

TEST(UnitLength, ALineThatGotBetterGetsShorterUnits) {
  UnitLength length(64);
  work(length, 0.5, 8, 50);
  const auto slow = length.steps();
  ASSERT_GE(slow, 15);
  work(length, 0.5, 0.1, 500);
  EXPECT_LE(length.steps(), slow / 8);
}

TEST(UnitLength, OnASteadyLineTheLengthSettles) {
  UnitLength length(64);
  work(length, 0.3, 2.0, 2000);
  int changes = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto before = length.steps();
    work(length, 0.3, 2.0, 1);
    changes += length.steps() != before ? 1 : 0;
  }
  EXPECT_LE(changes, 4);
}

TEST(UnitLength, AWorkerThatLiesStaysWithinTheBounds) {
  UnitLength length(16);
  for (int i = 0; i < 100; ++i) length.measured(Duration(1), duration_of(1e9));
  EXPECT_EQ(length.steps(), 16);
  for (int i = 0; i < 100; ++i) {
    length.measured(Duration(-5), duration_of(1));
    length.measured(duration_of(1), Duration(-5));
  }
  EXPECT_EQ(length.steps(), 16);
  for (int i = 0; i < 100'000; ++i) length.measured(duration_of(1e9), Duration());
  EXPECT_GE(length.steps(), 1);
}

}  // namespace
}  // namespace souk::train
