#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(FedAdam, KnownAnswers) {
  // m = 0.19, v = 0.0199: 0.01 x 0.19 / (sqrt(0.0199) + 0.001) more.
  const auto p = testing::expect_two_steps("fedadam", 0.0232750F);
  EXPECT_EQ(p.version(), 2);
}

}  // namespace
}  // namespace souk::train
