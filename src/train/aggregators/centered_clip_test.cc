#include <limits>

#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(CenteredClip, KnownAnswers) {
  const auto made = rule("centered-clip", {{"buffer", 3}});
  auto p = parameters({0}, *made);
  // All are within the median distance of 1 from 0, but for 100, which counts as 1.
  made->fold(p, std::vector{update({1}), update({1}), update({100})});
  EXPECT_THAT(values_of(p), ElementsAre(FloatEq(1)));
  // From 1, the distances are 1, 1 and 2, which is cut to 1: the mean is 1 + (1 - 1 - 1) / 3.
  made->fold(p, std::vector{update({2}), update({0}), update({-1})});
  EXPECT_THAT(values_of(p), ElementsAre(FloatEq(1 + 2 / 3.F)));
}

TEST(CenteredClip, WhatIsNotFiniteIsLeftOut) {
  const auto bad = std::numeric_limits<float>::quiet_NaN();
  const auto made = rule("centered-clip");
  EXPECT_THAT(folded(*made, {0}, {update({bad}), update({2}), update({2})}), ElementsAre(2));
  EXPECT_THAT(folded(*made, {5}, {update({bad})}), ElementsAre(5));
}

}  // namespace
}  // namespace souk::train
