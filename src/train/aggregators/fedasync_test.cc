#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(FedAsync, KnownAnswers) {
  const auto usual = rule("fedasync");
  EXPECT_THAT(folded(*usual, {0}, {update({10})}), ElementsAre(FloatEq(6)));
  EXPECT_THAT(folded(*usual, {0}, {update({10}, {.staleness = 3})}), ElementsAre(FloatEq(3)));
  EXPECT_THAT(
      folded(*rule("fedasync", {{"a0", 0.5}, {"b", 1}}), {2}, {update({10}, {.staleness = 3})}),
      ElementsAre(3));
}

}  // namespace
}  // namespace souk::train
