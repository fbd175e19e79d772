#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(FedYogi, KnownAnswers) {
  // m = 0.19, v = 0.02: 0.01 x 0.19 / (sqrt(0.02) + 0.001) more.
  const auto p = testing::expect_two_steps("fedyogi", 0.0232417F);
  EXPECT_EQ(p.version(), 2);
}

TEST(FedYogi, TheSecondMomentShrinksNoFasterThanTheChanges) {
  const auto made = rule("fedyogi");
  auto p = parameters({0}, *made);
  made->fold(p, std::vector{update({1})});
  made->fold(p, std::vector{update({0.01F})});
  // v = 0.01 - 0.01 x 0.0001.
  EXPECT_NEAR(p.plane(1, 0)[0], 0.009999F, 1e-8);
}

}  // namespace
}  // namespace souk::train
