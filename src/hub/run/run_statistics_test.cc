#include <gtest/gtest.h>

#include "hub/testing/runs.h"

// Checks look at statistics that were measured for them, and at the mean of the last parameters.

namespace souk::hub {
namespace {

using base::LeaseId;
using base::UnitKind;

// The last of the eleven floats is state.
class RunStatistics : public testing::RunTest {
 protected:
  wire::Unit ask_as(LeaseId worker) {
    auto unit = run_->next(worker, {}, std::nullopt, worker.value);
    EXPECT_TRUE(unit) << unit.error().message;
    return *unit;
  }
  void begin_with_state() {
    const auto unit = ask_as(ann_);
    ASSERT_EQ(unit.kind, UnitKind::init);
    const wire::UnitDone done{.tensors = {{"w", {2, 5}, false}, {"mean", {1}, true}}};
    EXPECT_TRUE(tell(ann_, unit, done, std::vector<float>(11, 1.0f)).accepted);
  }
  void train_epoch() {
    for (int i = 0; i < 2; ++i) {
      const auto unit = ask_as(ann_);
      ASSERT_EQ(unit.kind, UnitKind::train);
      ASSERT_FALSE(unit.measure);
      EXPECT_TRUE(tell(ann_, unit, done_of(unit), std::vector<float>(11, 1.0f)).accepted);
    }
  }
  // `change` of the state; of everything else there is noise, which nobody takes.
  wire::UnitVerdict measure(LeaseId worker, const wire::Unit& unit, float change) {
    EXPECT_TRUE(unit.measure);
    std::vector<float> sent(11, 100.0f);
    sent.back() = change;
    return tell(worker, unit,
                {.base = unit.version, .steps = unit.steps, .samples = unit.steps * unit.batch},
                sent);
  }
  std::vector<float> version(std::int64_t which) {
    std::vector<float> out(11);
    const auto bytes = run_->pull(ann_, {.version = which});
    EXPECT_TRUE(bytes);
    if (bytes) EXPECT_TRUE(train::unpack_changed(bytes->joined(), out));
    return out;
  }
  wire::UnitVerdict evaluate(LeaseId worker, const wire::Unit& unit) {
    EXPECT_EQ(unit.kind, UnitKind::evaluate);
    return tell(worker, unit, {.samples = 100, .loss = 0.4, .metrics = {{"accuracy", 0.7}}}, {});
  }
};

TEST_F(RunStatistics, ACheckIsOfTheParametersWithTheStateMeasuredForIt) {
  begin_with_state();
  train_epoch();
  const auto unit = ask_as(ann_);
  EXPECT_EQ(unit.kind, UnitKind::train);  // To agents and trainers it is one more unit,
  EXPECT_EQ(unit.lr, 0);                  // which learns nothing.
  EXPECT_EQ(unit.version, 2);
  EXPECT_EQ(unit.codec, "fp32");
  EXPECT_EQ(unit.state_scale, 1);
  EXPECT_FALSE(unit.keep);
  EXPECT_TRUE(measure(ann_, unit, 0.25f).accepted);
  const auto check = ask_as(ann_);
  auto seen = version(check.version);
  EXPECT_EQ(seen.front(), 3);
  EXPECT_EQ(seen.back(), 3.25f);
  EXPECT_EQ(version(2).back(), 3);  // What others were given as version 2 stays so,
  EXPECT_EQ(values().back(), 3);    // and nobody learns from anything else.
  EXPECT_TRUE(evaluate(ann_, check).accepted);
  EXPECT_EQ(run_->owed().size(), 5);  // The first parameters, two units, and both of these.
}

TEST_F(RunStatistics, WhoMeasuresForTheLastCheckAloneIsPaidWhenAnotherOwnerAgrees) {
  spec_.epochs = 1;
  pointer_ = "last";
  open();
  begin_with_state();
  train_epoch();
  const auto mine = ask_as(ann_);
  EXPECT_EQ(ask_as(bob_).kind, UnitKind::wait);
  const auto owed = run_->owed().size();
  EXPECT_TRUE(measure(ann_, mine, 0.25f).accepted);
  EXPECT_EQ(run_->owed().size(), owed);
  const auto theirs = ask_as(bob_);
  EXPECT_EQ(theirs.shard, mine.shard);
  EXPECT_TRUE(measure(bob_, theirs, 0.2501f).accepted);
  EXPECT_EQ(run_->owed().size(), owed + 2);
  EXPECT_TRUE(evaluate(ann_, ask_as(ann_)).accepted);
  EXPECT_TRUE(evaluate(bob_, ask_as(bob_)).accepted);
  ASSERT_TRUE(run_->ended() && *run_->ended());
  EXPECT_EQ(run_->view().rows.size(), 1);
}

TEST_F(RunStatistics, ALieAboutTheLastCheckIsNeitherUsedNorPaid) {
  spec_.epochs = 1;
  pointer_ = "lie";
  open();
  begin_with_state();
  train_epoch();
  const LeaseId carol{9};
  const auto lie = ask_as(ann_);
  EXPECT_EQ(ask_as(bob_).kind, UnitKind::wait);
  EXPECT_EQ(ask_as(carol).kind, UnitKind::wait);
  EXPECT_TRUE(measure(ann_, lie, 40).accepted);  // It cannot be told yet.
  const auto owed = run_->owed().size();
  EXPECT_TRUE(measure(bob_, ask_as(bob_), 0.25f).accepted);
  EXPECT_TRUE(measure(carol, ask_as(carol), 0.25f).accepted);
  EXPECT_EQ(run_->owed().size(), owed + 2);
  for (const auto& wage : run_->owed()) EXPECT_NE(wage.unit, lie.id);
  const auto check = ask_as(bob_);
  EXPECT_EQ(version(check.version).back(), 3.25f);
}

TEST_F(RunStatistics, StatisticsThatNoTrainerMeasuresAreRefused) {
  begin_with_state();
  train_epoch();
  const auto verdict = measure(ann_, ask_as(ann_), 1e9f);
  EXPECT_FALSE(verdict.accepted);
  EXPECT_NE(verdict.reason.find("statistics"), std::string::npos) << verdict.reason;
}

TEST_F(RunStatistics, AfterACrashACheckIsMeasuredAgain) {
  begin_with_state();
  train_epoch();
  clock_.advance(base::seconds(11));
  EXPECT_TRUE(measure(ann_, ask_as(ann_), 0.25f).accepted);
  open();
  const auto again = ask_as(bob_);
  EXPECT_TRUE(again.measure);
  EXPECT_TRUE(measure(bob_, again, 0.5f).accepted);
  EXPECT_EQ(version(ask_as(bob_).version).back(), 3.5f);
}

class RunAverage : public testing::RunTest {
 protected:
  void SetUp() override {
    testing::RunTest::SetUp();
    spec_.average = wire::Average::tail;
    spec_.local_steps = 4;  // Ten units an epoch.
    pointer_ = "average";
    open();
  }
  // Parameters grow by one with each unit, from 1.
  void train_units(int count) {
    for (int i = 0; i < count; ++i) EXPECT_TRUE(train(ann_, 1).accepted);
  }
  // What the next check looks at.
  float checked() {
    auto unit = ask(ann_);
    for (; unit.kind == UnitKind::train; unit = ask(ann_))
      EXPECT_TRUE(tell(ann_, unit, done_of(unit), std::vector<float>(11, 1)).accepted);
    EXPECT_EQ(unit.kind, UnitKind::evaluate);
    std::vector<float> out(11);
    const auto bytes = run_->pull(ann_, {.version = unit.version});
    EXPECT_TRUE(bytes && train::unpack_changed(bytes->joined(), out));
    tell(ann_, unit, {.samples = 100, .loss = 0.4, .metrics = {{"accuracy", 0.7}}}, {});
    return out[0];
  }
};

TEST_F(RunAverage, WhatIsCheckedIsTheMeanOfTheLastParametersAndWorkersLearnFromTheNewest) {
  begin();
  train_units(10);
  EXPECT_EQ(values()[0], 11);
  const auto found = checked();
  EXPECT_LT(found, 11);
  EXPECT_GT(found, 9.5F);
}

TEST_F(RunAverage, TheMeanSurvivesACrash) {
  begin();
  train_units(8);
  clock_.advance(base::seconds(11));
  train_units(1);  // Saves.
  open();
  ASSERT_EQ(values()[0], 10);
  // With what was before the crash: else the first look after it would be the mean.
  const auto found = checked();
  EXPECT_EQ(values()[0], 11);
  EXPECT_LT(found, 10.6F);
  EXPECT_GT(found, 9.5F);
}

TEST_F(RunAverage, NoneGivesTheParametersAsTheyAre) {
  spec_.average = wire::Average::none;
  pointer_ = "none";
  open();
  begin();
  train_units(10);
  EXPECT_EQ(checked(), 11);
}

}  // namespace
}  // namespace souk::hub
