#include "advisor/planners/cost_opt.h"

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

// planning.md: 6 x c4.xlarge in FC2's 8.1 and 8.2, 6 x g3.4xlarge in 8.3 and 8.4.
TEST(CostOpt, RecommendsTheBaselinesOfThePaper) {
  for (const auto& known : {Baseline{"m4.large", kCpuTypes, "c4.xlarge", 1.511_cr},
                            Baseline{"m4.large", kMixedTypes, "c4.xlarge", 1.511_cr},
                            Baseline{"m4.2xlarge", kFastTypes, "g3.4xlarge", 10.52_cr},
                            Baseline{"m4.10xlarge", kFastTypes, "g3.4xlarge", 12.52_cr}}) {
    expect_baseline(
        cost_opt(fc2_catalog(), {.server = known.server, .types = known.types, .max_workers = 6}),
        known);
  }
}

TEST(CostOpt, ABudgetIsSpentInWholeWorkers) {
  const auto out = cost_opt(fc2_catalog(), {.server = "m4.large", .budget = 2_cr});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->size.workers(), 8);  // 1.875 / 0.231 = 8.1.
  EXPECT_EQ(out->size.binding(), Binding::budget);
  EXPECT_LE(out->per_hour(), 2_cr);
}

TEST(CostOpt, ASmallBudgetIsToldTheLeastThatWorks) {
  const auto out = cost_opt(fc2_catalog(), {.server = "m4.large", .budget = 0.1_cr});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().hint, "the least that works is 0.356 (0.125 + 0.231)");
}

TEST(CostOpt, SomethingMustLimitTheCluster) {
  const auto out = cost_opt(fc2_catalog(), {});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().message, "nothing limits the number of workers");
}

}  // namespace
}  // namespace souk::advisor
