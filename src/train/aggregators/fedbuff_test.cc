#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(FedBuff, KnownAnswers) {
  const auto two = rule("fedbuff", {{"buffer", 2}});
  EXPECT_THAT(folded(*two, {1}, {update({4}), update({8}, {.staleness = 3})}), ElementsAre(5));
  EXPECT_THAT(folded(*two, {0}, {update({4}), update({16}, {.weight = 3, .staleness = 3})}),
              ElementsAre(7));
  // Fewer than the buffer holds, at the end.
  EXPECT_THAT(folded(*two, {0}, {update({8}, {.staleness = 3})}), ElementsAre(4));
  EXPECT_THAT(folded(*rule("fedbuff", {{"eta", 0.5}}), {0}, {update({4})}), ElementsAre(2));
}

TEST(FedBuff, WaitsForTenOrForAllWorkersIfTheyAreFewer) {
  EXPECT_EQ(rule("fedbuff", {}, 3)->needs().arity, 3);
  EXPECT_EQ(rule("fedbuff", {}, 300)->needs().arity, 10);
  EXPECT_EQ(rule("fedbuff", {{"buffer", 20}}, 300)->needs().arity, 20);
}

TEST(FedBuff, UpdatesThatNameNoSamplesCountTheSame) {
  EXPECT_THAT(folded(*rule("fedbuff", {{"buffer", 2}}), {0},
                     {update({4}, {.weight = 0}), update({8}, {.weight = 0})}),
              ElementsAre(6));
}

}  // namespace
}  // namespace souk::train
