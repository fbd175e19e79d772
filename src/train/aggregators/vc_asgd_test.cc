#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(VcAsgd, KnownAnswers) {
  const auto by_epoch = rule("vc-asgd");
  EXPECT_THAT(folded(*by_epoch, {0, 4}, {update({4, 4}, {.epoch = 1})}), ElementsAre(2, 4));
  EXPECT_THAT(folded(*by_epoch, {0}, {update({4}, {.epoch = 3})}), ElementsAre(1));
  EXPECT_THAT(folded(*by_epoch, {0}, {update({4}), update({8})}), ElementsAre(5));
  EXPECT_THAT(folded(*by_epoch, {0}, {update({4}, {.epoch = -7})}), ElementsAre(2));
  EXPECT_THAT(folded(*rule("vc-asgd", {{"alpha", 0.75}}), {0}, {update({4}, {.epoch = 9})}),
              ElementsAre(1));
}

// The header of the rule explains it: the fold moves towards the worker's parameters, not by its
// change, so a stale worker takes back what others did.
TEST(VcAsgd, AStaleWorkerThatChangedNothingStillMovesTheParameters) {
  EXPECT_THAT(folded(*rule("vc-asgd"), {1}, {update({0}, {.epoch = 1})}), ElementsAre(0.5F));
}

}  // namespace
}  // namespace souk::train
