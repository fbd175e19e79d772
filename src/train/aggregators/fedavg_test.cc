#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(FedAvg, KnownAnswers) {
  const auto two = rule("fedavg", {}, 2);
  EXPECT_THAT(folded(*two, {1}, {update({2}), update({6}, {.weight = 3})}), ElementsAre(6));
  EXPECT_EQ(two->needs().arity, 2);
  EXPECT_TRUE(two->needs().synchronous);
  EXPECT_EQ(rule("fedavg", {{"quorum", 3}}, 8)->needs().arity, 3);
}

}  // namespace
}  // namespace souk::train
