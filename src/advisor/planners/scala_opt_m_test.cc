#include "advisor/planners/scala_opt_m.h"

#include <gtest/gtest.h>

#include "advisor/testing/fc2.h"

namespace souk::advisor {
namespace {

using namespace base::literals;

TEST(ScalaOptM, SizesTheTypeThatWasNamedWhateverTheOthersWouldDo) {
  const auto out = scala_opt_m(testing::fc2_catalog(),
                               {.server = "m4.large",
                                .types = {"m4.xlarge"},
                                .bandwidth_mbps = {{"t2.xlarge", 180}, {"m4.xlarge", 80}},
                                .max_workers = 6});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->size.type.name, "m4.xlarge");
  EXPECT_EQ(out->size.workers(), 5);  // 427.5 / 80.
  EXPECT_EQ(out->per_hour(), 1.375_cr);
}

TEST(ScalaOptM, AsksForOneType) {
  const auto none = scala_opt_m(testing::fc2_catalog(), {.bandwidth_mbps = {{"t2.xlarge", 9}}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "scala-opt-m sizes one type, and 0 are named");
}

}  // namespace
}  // namespace souk::advisor
