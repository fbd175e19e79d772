#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

// A change of one of `at_work` workers, made `staleness` folds ago.
Update shared(float change, std::int32_t at_work, std::int64_t staleness = 0) {
  auto out = update({change}, {.staleness = staleness});
  out.at_work = at_work;
  return out;
}

TEST(Mean, OneWorkersChangeCountsWhole) {
  EXPECT_THAT(folded(*rule("mean", {}, 4), {1}, {shared(8, 1)}), ElementsAre(9));
}

TEST(Mean, ChangesOfAllMoveByTheirMean) {
  EXPECT_THAT(folded(*rule("mean", {}, 1), {1},
                     {shared(8, 4), shared(4, 4, 1), shared(-4, 4, 2), shared(0, 4, 3)}),
              ElementsAre(3));
}

TEST(Mean, WhatIsStalerThanARoundCountsLess) {
  EXPECT_THAT(folded(*rule("mean", {}, 2), {0}, {shared(8, 2, 15)}), ElementsAre(1));
  // Each has a unit under way beside the one on its way.
  EXPECT_THAT(folded(*rule("mean", {}, 2), {0}, {shared(8, 2, 3)}), ElementsAre(4));
}

TEST(Mean, EtaScalesIt) {
  EXPECT_THAT(folded(*rule("mean", {{"eta", 0.5}}, 2), {0}, {shared(8, 2, 1)}), ElementsAre(2));
}

}  // namespace
}  // namespace souk::train
