#include "advisor/time_opt.h"

#include <gtest/gtest.h>

#include "advisor/testing/fc2.h"

namespace souk::advisor {
namespace {

using testing::fc2_catalog;
using testing::kCpuTypes;
using testing::kFastTypes;
using testing::kMixedTypes;
using namespace base::literals;

// planning.md: what FC2 compares with.
TEST(TimeOpt, RecommendsTheBaselinesOfThePaper) {
  struct Row {
    std::string server;
    std::vector<std::string> types;
    std::string type;
    Credits per_hour;
  };
  for (const auto& row : {Row{"m4.large", kCpuTypes, "m4.xlarge", 1.625_cr},
                          Row{"m4.large", kMixedTypes, "p2.xlarge", 10.433_cr},
                          Row{"m4.2xlarge", kFastTypes, "c4.8xlarge", 11.588_cr},
                          Row{"m4.10xlarge", kFastTypes, "c4.8xlarge", 13.588_cr}}) {
    const auto out =
        time_opt(fc2_catalog(), {.server = row.server, .types = row.types, .max_workers = 6});
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_EQ(out->size.type.name, row.type);
    EXPECT_EQ(out->size.workers(), 6);
    EXPECT_EQ(out->per_hour(), row.per_hour);
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
