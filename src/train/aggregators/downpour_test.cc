#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/testing/updates.h"

namespace souk::train {
namespace {

using ::testing::ElementsAre;
using testing::folded;
using testing::rule;
using testing::update;

// Answers worked out by hand from the rule's description.
TEST(Downpour, KnownAnswers) {
  EXPECT_THAT(folded(*rule("downpour", {}, 4), {1}, {update({8})}), ElementsAre(3));
  EXPECT_THAT(folded(*rule("downpour", {{"eta", 1}}, 4), {1}, {update({8}), update({-2})}),
              ElementsAre(7));
}

}  // namespace
}  // namespace souk::train
