#include "train/units/training_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "train/session.h"

namespace souk::train {
namespace {

constexpr auto kHuge = std::int64_t{1} << 62;

TrainingPlan plan() { return {.shards = {100, 100}, .validation = {50}, .batch = 10}; }

TEST(TrainingPlan, ShardsThatClaimMoreThanCanBeCountedAreRefused) {
  EXPECT_TRUE(check_plan(plan()));
  const std::vector<std::int64_t> claims[] = {{kHuge, kHuge, kHuge, kHuge},
                                              {kMostSamples, 1},
                                              {std::numeric_limits<std::int64_t>::max()},
                                              {0},
                                              {-1},
                                              {}};
  for (const auto& shards : claims) {
    auto p = plan();
    p.shards = shards;
    EXPECT_FALSE(check_plan(p));
    EXPECT_FALSE(Session::make({.plan = p, .rule = {.name = "downpour"}}));
  }
  auto p = plan();
  p.validation = {kHuge, kHuge};
  EXPECT_EQ(check_plan(p).error().field, "validation");
}

TEST(TrainingPlan, NumbersOutOfTheirRangeAreRefused) {
  const std::pair<const char*, void (*)(TrainingPlan&)> rows[] = {
      {"epochs", [](TrainingPlan& p) { p.epochs = 0; }},
      {"epochs", [](TrainingPlan& p) { p.epochs = kMostEpochs + 1; }},
      {"batch", [](TrainingPlan& p) { p.batch = 0; }},
      {"local_batch", [](TrainingPlan& p) { p.local_batch = 0; }},
      {"local_steps", [](TrainingPlan& p) { p.local_steps = -1; }},
      {"validations", [](TrainingPlan& p) { p.validations = 101; }},
      {"lr", [](TrainingPlan& p) { p.lr = std::nan(""); }}};
  for (const auto& [field, spoil] : rows) {
    auto p = plan();
    spoil(p);
    const auto checked = check_plan(p);
    ASSERT_FALSE(checked) << field;
    EXPECT_EQ(checked.error().field, field);
  }
}

TEST(TrainingPlan, ABatchIsDividedAmongThoseAtWorkIntoEqualParts) {
  auto p = plan();
  p.batch = 64;
  EXPECT_EQ(p.parts(0), 1);
  EXPECT_EQ(p.parts(1), 1);
  EXPECT_EQ(p.parts(4), 4);
  EXPECT_EQ(p.parts(7), 4) << "7, 6 and 5 do not divide 64";
  EXPECT_EQ(p.parts(10'000), 8) << "none is smaller than 8";
  p.local_batch = 64;
  EXPECT_EQ(p.parts(10), 1);
  p.local_batch = 1;
  EXPECT_EQ(p.parts(64), 64);
  p.batch = 97;
  EXPECT_EQ(p.parts(96), 1) << "a prime";
}

TEST(TrainingPlan, StepsNeverWrapWhateverWasClaimed) {
  auto p = plan();
  p.shards = {kHuge, kHuge, kHuge, kHuge};
  p.batch = 1;
  EXPECT_GT(p.epoch_steps(), 0);
  EXPECT_GT(p.unit_steps(), 0);
  p.shards = {101};
  p.batch = 10;
  EXPECT_EQ(p.epoch_steps(), 11);
}

TEST(TrainingPlan, UnitsAreShortAtFirstWhereTheSplitIsChosenHere) {
  auto p = plan();
  p.shards = {60'000};
  p.batch = 64;
  p.workers = 10;
  EXPECT_EQ(p.unit_steps(), 11);
  EXPECT_EQ(p.unit_steps(1, 10), 2);
  EXPECT_EQ(p.unit_steps(2, 10), 5);
  EXPECT_EQ(p.unit_steps(3, 10), 5);
  // One that works alone divides nothing, and does no fewer than eight.
  EXPECT_EQ(p.unit_steps(1, 1), 8);
  p.short_units = true;
  EXPECT_EQ(p.unit_steps(3, 10), 2);
  p.local_steps = 24;
  EXPECT_EQ(p.unit_steps(1, 10), 24);
}

TEST(TrainingPlan, TheLargestPlanCanBeWorkedOn) {
  auto p = plan();
  p.shards = {kMostSamples};
  p.batch = 1;
  p.epochs = kMostEpochs;
  p.validations = kMostValidations;
  p.seed = std::numeric_limits<std::int64_t>::max();
  Training t(p);
  const base::Time now(1'000'000);
  t.initialised(t.next(1, now).id, now);
  const auto unit = t.next(1, now);
  EXPECT_EQ(unit.kind, UnitKind::train);
  t.accept(unit.id, unit.steps, unit.steps, 0.5, now);
  EXPECT_GT(t.progress(), 0);
  EXPECT_LT(t.progress(), 1e-6);
}

}  // namespace
}  // namespace souk::train
