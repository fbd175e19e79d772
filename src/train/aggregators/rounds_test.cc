#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

// Local SGD's average (McMahan et al., "Communication-Efficient Learning", 2017, algorithm 1): each
// counts as the samples that it has done.
TEST(RoundsRule, KnownAnswers) {
  const auto three = rule("rounds", {}, 3);
  EXPECT_THAT(folded(*three, {1}, {update({2}), update({6}, {.weight = 3})}), ElementsAre(6));
  EXPECT_THAT(folded(*three, {1}, {update({2})}), ElementsAre(3)) << "one alone counts whole";
  EXPECT_TRUE(three->needs().synchronous);
  EXPECT_TRUE(three->needs().by_clock);
  EXPECT_EQ(three->needs().round_s, 0);
  EXPECT_EQ(rule("rounds", {{"seconds", 2}}, 3)->needs().round_s, 2);
}

}  // namespace
}  // namespace souk::train
