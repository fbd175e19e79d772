#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/testing/updates.h"

namespace souk::train {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using testing::folded;
using testing::rule;
using testing::update;

// Answers worked out by hand from the rule's description.
TEST(Easgd, KnownAnswers) {
  EXPECT_THAT(folded(*rule("easgd", {}, 3), {10}, {update({20})}), ElementsAre(FloatEq(13)));
  EXPECT_THAT(folded(*rule("easgd", {{"alpha", 0.5}}), {10}, {update({20}), update({5})}),
              ElementsAre(10));
}

}  // namespace
}  // namespace souk::train
