#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(Downpour, KnownAnswers) {
  EXPECT_THAT(folded(*rule("downpour", {}, 4), {1}, {update({8})}), ElementsAre(3));
  EXPECT_THAT(folded(*rule("downpour", {{"eta", 1}}, 4), {1}, {update({8}), update({-2})}),
              ElementsAre(7));
}

}  // namespace
}  // namespace souk::train
