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
