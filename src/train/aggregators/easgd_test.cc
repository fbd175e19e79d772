#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(Easgd, KnownAnswers) {
  EXPECT_THAT(folded(*rule("easgd", {}, 3), {10}, {update({20})}), ElementsAre(FloatEq(13)));
  EXPECT_THAT(folded(*rule("easgd", {{"alpha", 0.5}}), {10}, {update({20}), update({5})}),
              ElementsAre(10));
}

}  // namespace
}  // namespace souk::train
