#include "advisor/planners/time_opt.h"

#include <gtest/gtest.h>

#include "advisor/testing/fc2.h"

namespace souk::advisor {
namespace {

using testing::Baseline;
using testing::expect_baseline;
using testing::fc2_catalog;
using testing::kCpuTypes;
using testing::kFastTypes;
using testing::kMixedTypes;
using namespace base::literals;

// planning.md: what FC2 compares with.
TEST(TimeOpt, RecommendsTheBaselinesOfThePaper) {
  for (const auto& known : {Baseline{"m4.large", kCpuTypes, "m4.xlarge", 1.625_cr},
                            Baseline{"m4.large", kMixedTypes, "p2.xlarge", 10.433_cr},
                            Baseline{"m4.2xlarge", kFastTypes, "c4.8xlarge", 11.588_cr},
                            Baseline{"m4.10xlarge", kFastTypes, "c4.8xlarge", 13.588_cr}}) {
    expect_baseline(
        time_opt(fc2_catalog(), {.server = known.server, .types = known.types, .max_workers = 6}),
        known);
  }
}

TEST(TimeOpt, NeverTakesACheaperTypeInstead) {
  const auto out = time_opt(fc2_catalog(), {.server = "m4.large", .budget = 1.9_cr});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().message, "a budget of 1.9 an hour buys no c4.8xlarge beside m4.large");
  EXPECT_EQ(out.error().hint, "the least that works is 1.973 (0.125 + 1.848)");
}

}  // namespace
}  // namespace souk::advisor
