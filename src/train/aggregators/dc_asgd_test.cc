#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(DcAsgd, KnownAnswers) {
  const auto plain = rule("dc-asgd", {{"adaptive", 0}});
  // c = 0.04 / 0.1 x 0.25 x 0.5 = 0.05.
  EXPECT_THAT(folded(*plain, {1}, {update({0.5F}, {.base = {0.5F}})}), ElementsAre(FloatEq(1.45F)));
  // m = 0.0125, c = 2 x 0.25 x 0.05 / sqrt(0.0125) = 0.223607.
  EXPECT_THAT(folded(*rule("dc-asgd"), {1}, {update({0.5F}, {.base = {0.95F}})}),
              ElementsAre(::testing::FloatNear(1.276393F, 1e-5F)));
}

TEST(DcAsgd, WithoutStalenessItIsThePlainSum) {
  for (const auto adaptive : {0., 1.})
    EXPECT_THAT(
        folded(*rule("dc-asgd", {{"adaptive", adaptive}}), {3}, {update({0.5F}, {.base = {3}})}),
        ElementsAre(3.5F));
}

TEST(DcAsgd, TheCorrectionAtMostStopsAStepOrDoublesIt) {
  for (const auto adaptive : {0., 1.}) {
    const auto made = rule("dc-asgd", {{"adaptive", adaptive}});
    EXPECT_THAT(folded(*made, {100}, {update({0.5F}, {.base = {0}})}), ElementsAre(100));
    EXPECT_THAT(folded(*made, {0}, {update({0.5F}, {.base = {100}})}), ElementsAre(1));
    EXPECT_THAT(folded(*made, {100}, {update({-0.5F}, {.base = {0}})}), ElementsAre(99));
  }
}

}  // namespace
}  // namespace souk::train
