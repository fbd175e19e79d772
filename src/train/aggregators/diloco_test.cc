#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(Diloco, KnownAnswers) {
  const auto made = rule("diloco");
  auto p = parameters({10}, *made);
  const std::vector updates{update({1})};
  made->fold(p, updates);
  EXPECT_THAT(values_of(p), ElementsAre(FloatEq(11.33F)));  // m = 1: 0.7 (1 + 0.9).
  made->fold(p, updates);
  EXPECT_THAT(values_of(p), ElementsAre(FloatEq(13.227F)));  // m = 1.9: 0.7 (1 + 0.9 x 1.9).
}

TEST(Diloco, TheMeanIsWeightedBySamples) {
  const auto made = rule("diloco", {{"momentum", 0}, {"eta", 1}}, 2);
  EXPECT_THAT(folded(*made, {0}, {update({2}), update({6}, {.weight = 3})}), ElementsAre(5));
}

}  // namespace
}  // namespace souk::train
