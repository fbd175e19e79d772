#include "hub/run/plan.h"

#include <gtest/gtest.h>

namespace souk::hub {
namespace {

TEST(Plan, AJobThatNamesNoAggregatorGetsTheDefault) {
  wire::Train spec{.epochs = 3, .lr = 0.1, .shards = {{"a", 100}}, .validation = {{"v", 10}}};
  const auto session = session_of(spec, 4);
  EXPECT_EQ(session.rule.name, "mean");
  EXPECT_EQ(session.rule.workers, 4);
  const auto plan = plan_of(spec, 4);
  EXPECT_EQ(plan.epochs, 3);
  EXPECT_EQ(plan.lr_end, 0.1);  // Without another it stays.
  EXPECT_EQ(plan.shards, std::vector<std::int64_t>{100});
  EXPECT_EQ(plan.validation, std::vector<std::int64_t>{10});
  EXPECT_FALSE(plan.target);
}

TEST(Plan, OfFourMeasuringUnitsOneHasHalfTheBatchAndOneAQuarter) {
  wire::Train spec{.batch = 8};
  EXPECT_EQ(batch_of(spec, 3), 8);
  spec.measure = true;
  EXPECT_EQ(batch_of(spec, 4), 8);
  EXPECT_EQ(batch_of(spec, 5), 4);
  EXPECT_EQ(batch_of(spec, 6), 8);
  EXPECT_EQ(batch_of(spec, 7), 2);
}

}  // namespace
}  // namespace souk::hub
