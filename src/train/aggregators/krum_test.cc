#include <limits>

#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(Krum, KnownAnswers) {
  const std::vector updates{update({100}), update({1}), update({1.5F}), update({0.5F}),
                            update({1})};
  // Of five, one may be anything: the four that lie together.
  EXPECT_THAT(folded(*rule("krum"), {0}, updates), ElementsAre(1));
  // The best one is the first of the two that are alike.
  EXPECT_THAT(folded(*rule("krum", {{"keep", 1}}), {2}, updates), ElementsAre(3));
  EXPECT_THAT(folded(*rule("krum"), {0}, {update({3}), update({4})}), ElementsAre(3.5F));
  EXPECT_THAT(folded(*rule("krum"), {0}, {update({3})}), ElementsAre(3));
}

TEST(Krum, WhatIsNotFiniteIsAsIfItHadNotCome) {
  const auto bad = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(folded(*rule("krum"), {0},
                     {update({bad}), update({2}), update({bad}), update({4}), update({3})}),
              ElementsAre(3));
  EXPECT_THAT(folded(*rule("krum"), {7}, {update({bad})}), ElementsAre(7));
}

}  // namespace
}  // namespace souk::train
