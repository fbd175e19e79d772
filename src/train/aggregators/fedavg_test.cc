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
TEST(FedAvg, KnownAnswers) {
  const auto two = rule("fedavg", {}, 2);
  EXPECT_THAT(folded(*two, {1}, {update({2}), update({6}, {.weight = 3})}), ElementsAre(6));
  EXPECT_EQ(two->needs().arity, 2);
  EXPECT_TRUE(two->needs().synchronous);
  EXPECT_EQ(rule("fedavg", {{"quorum", 3}}, 8)->needs().arity, 3);
}

}  // namespace
}  // namespace souk::train
