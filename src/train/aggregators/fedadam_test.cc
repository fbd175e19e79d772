#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/testing/updates.h"

namespace souk::train {
namespace {

using ::testing::ElementsAre;
using testing::parameters;
using testing::rule;
using testing::update;
using testing::values_of;

// Answers worked out by hand from the rule's description.
TEST(FedAdam, KnownAnswers) {
  const auto made = rule("fedadam");
  auto p = parameters({0, 0}, *made);
  const std::vector updates{update({1, 0})};
  made->fold(p, updates);
  // m = 0.1, v = 0.01: 0.01 x 0.1 / (0.1 + 0.001).
  EXPECT_THAT(values_of(p), ElementsAre(::testing::FloatNear(0.00990099F, 1e-7F), 0));
  made->fold(p, updates);
  // m = 0.19, v = 0.0199: 0.01 x 0.19 / (sqrt(0.0199) + 0.001) more.
  EXPECT_THAT(values_of(p), ElementsAre(::testing::FloatNear(0.0232750F, 1e-7F), 0));
  EXPECT_EQ(p.version(), 2);
}

}  // namespace
}  // namespace souk::train
