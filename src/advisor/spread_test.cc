#include "advisor/spread.h"

#include <gtest/gtest.h>

namespace souk::advisor {
namespace {

TEST(Spread, WithoutEarlierRunsAForecastAdmitsAQuarterEitherWay) {
  const Spread none;
  EXPECT_TRUE(none.guessed());
  EXPECT_DOUBLE_EQ(none.quantile(0), -0.25);
  EXPECT_DOUBLE_EQ(none.quantile(.5), 0);
  EXPECT_DOUBLE_EQ(none.quantile(.9), 0.2);
  EXPECT_DOUBLE_EQ(none.quantile(1), 0.25);
}

TEST(Spread, NineRunsMakeAnIntervalOfFourInFiveTheirOwn) {
  const Spread nine({.04, -.02, 0, .01, .03, .02, -.01, .05, .06});
  EXPECT_FALSE(nine.guessed());
  EXPECT_DOUBLE_EQ(nine.quantile(.1), -.02);
  EXPECT_DOUBLE_EQ(nine.quantile(.5), .02);
  EXPECT_DOUBLE_EQ(nine.quantile(.9), .06);
  EXPECT_DOUBLE_EQ(nine.quantile(1), .25);  // Nobody has seen that such a run cannot go wrong.
}

TEST(Spread, FewRunsNarrowTheGuessAndDoNotReplaceIt) {
  const Spread one({.01});
  EXPECT_TRUE(one.guessed());
  EXPECT_LT(one.quantile(.9), 0.25);
  EXPECT_GT(one.quantile(.9), 0.15);
  EXPECT_DOUBLE_EQ(one.quantile(.5), .01);
}

TEST(Spread, LeansWhereNearlyAllWentOneWay) {
  EXPECT_DOUBLE_EQ(Spread().lean(.8), 0);
  EXPECT_DOUBLE_EQ(Spread({.1, .2, .15}).lean(.8), 0);  // Three may be chance.
  EXPECT_DOUBLE_EQ(Spread({.1, .2, .15, .12, .18, .13, .14, .16, .11}).lean(.8), .14);
  EXPECT_DOUBLE_EQ(Spread({-.1, -.2, -.15, -.12, -.18, -.13, -.14, -.16, -.11}).lean(.8), -.14);
  EXPECT_DOUBLE_EQ(Spread({.1, .2, .15, .12, .18, .13, .14, .16, -.01}).lean(.8), 0);
}

TEST(Spread, ARunThatWentVeryWrongIsRemembered) {
  EXPECT_DOUBLE_EQ(Spread({2.0, .01}).quantile(1), 2.0);
  EXPECT_DOUBLE_EQ(Spread({-.6, .01}).quantile(0), -.6);
}

}  // namespace
}  // namespace souk::advisor
