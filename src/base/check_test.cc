#include "base/check.h"

#include <gtest/gtest.h>

namespace souk::base {
namespace {

TEST(CheckDeathTest, ABrokenInvariantEndsTheProcessAndSaysWhere) {
  const int owed = 1;
  EXPECT_DEATH(CHECK(owed == 0), "check_test.cc:.*CHECK\\(owed == 0\\) failed");
}

TEST(Check, AKeptInvariantCostsNothingAndIsEvaluatedOnce) {
  int evaluated = 0;
  CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
  if (evaluated == 1)
    CHECK(true);  // One statement: it must not swallow the else.
  else
    FAIL();
}

}  // namespace
}  // namespace souk::base
