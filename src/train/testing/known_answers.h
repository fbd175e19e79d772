#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "train/testing/updates.h"

// For the tests of aggregators, whose answers are worked out by hand from their descriptions: the
// names that all of them use.

namespace souk::train {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using testing::folded;
using testing::parameters;
using testing::rule;
using testing::update;
using testing::values_of;

namespace testing {

// Folds the same change twice by an adaptive step (aggregators/adaptive_step.h). After the first
// fold m = 0.1 and v = 0.01 for all of them: 0.01 x 0.1 / (0.1 + 0.001). After the second the
// parameters are `then`.
inline Parameters expect_two_steps(const std::string& name, float then) {
  const auto made = rule(name);
  auto p = parameters({0, 0}, *made);
  const std::vector updates{update({1, 0})};
  made->fold(p, updates);
  EXPECT_THAT(values_of(p), ElementsAre(::testing::FloatNear(0.00990099F, 1e-7F), 0));
  made->fold(p, updates);
  EXPECT_THAT(values_of(p), ElementsAre(::testing::FloatNear(then, 1e-7F), 0));
  return p;
}

}  // namespace testing
}  // namespace souk::train
