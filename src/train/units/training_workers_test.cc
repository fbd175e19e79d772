#include <gtest/gtest.h>

#include "train/units/training.h"

namespace souk::train {
namespace {

using base::minutes;
using base::seconds;

// Shards of 100 samples in batches of 10, and workers that begin the next unit while the one before
// is on its way.
class TwoUnits : public ::testing::Test {
 protected:
  static TrainingPlan plan() {
    return {.shards = {100, 100, 100, 100},
            .validation = {50},
            .epochs = 2,
            .batch = 10,
            .local_steps = 5,
            .workers = 3};
  }
  void begin(TrainingPlan with = plan()) {
    t.emplace(std::move(with));
    t->initialised(t->next(1, now).id, now);
  }
  Unit next(Training::Worker worker, std::int64_t keeps = 0) {
    return t->next(worker, now, {}, 0, keeps);
  }
  void accept(const Unit& unit) {
    t->accept(unit.id, unit.steps, 10 * unit.steps, 0.5, now);
    t->folded();
    t->begin_check(++version_, now);
  }
  bool has(const Unit& unit, Training::Worker worker = 1) const {
    return t->find(worker, unit.id) != nullptr;
  }

  std::optional<Training> t;
  base::Time now{1'000'000};

 private:
  std::int64_t version_ = 0;
};

TEST_F(TwoUnits, AWorkerHasTheOneItKeepsAndOneMore) {
  begin();
  const auto a = next(1), b = next(1, a.id);
  ASSERT_EQ(b.kind, UnitKind::train);
  EXPECT_TRUE(a.shard != b.shard || a.first_step != b.first_step);
  EXPECT_TRUE(has(a));
  EXPECT_TRUE(has(b));
  const auto c = next(1, b.id);
  EXPECT_FALSE(has(a)) << "of three it gives up the one that it does not keep";
  EXPECT_TRUE(has(b));
  EXPECT_TRUE(has(c));
  const auto d = next(1, c.id);
  EXPECT_FALSE(has(b));
  EXPECT_TRUE(has(c));
  EXPECT_TRUE(has(d));
  next(1);
  EXPECT_FALSE(has(c)) << "without a word it keeps none";
  EXPECT_FALSE(has(d));
}

TEST_F(TwoUnits, WhatItSaysItKeepsMustBeItsOwn) {
  begin();
  const auto a = next(1), b = next(2);
  const auto c = next(1, b.id);
  EXPECT_FALSE(has(a));
  EXPECT_TRUE(has(b, 2));
  EXPECT_FALSE(has(b, 1));
  EXPECT_TRUE(has(c));
}

TEST_F(TwoUnits, BothGoBackWhenTheWorkerIsGone) {
  begin();
  const auto a = next(1), b = next(1, a.id);
  t->gone(1, now);
  EXPECT_FALSE(has(a));
  EXPECT_FALSE(has(b));
  EXPECT_FALSE(t->workers().at(1).busy);
  std::set<std::pair<std::int32_t, std::int64_t>> again;
  for (int i = 0; i < 2; ++i) {
    const auto unit = next(2);
    again.insert({unit.shard, unit.first_step});
    accept(unit);
  }
  EXPECT_EQ(again, (std::set<std::pair<std::int32_t, std::int64_t>>{{a.shard, a.first_step},
                                                                    {b.shard, b.first_step}}));
}

TEST_F(TwoUnits, OneThatWasNotBegunIsGivenBackAndNothingIsLost) {
  begin();
  const auto a = next(1), b = next(1, a.id);
  accept(a);
  t->give_back(b.id, now);
  EXPECT_FALSE(has(b));
  EXPECT_EQ(t->state().wasted_steps, 0);
  const auto again = next(2);
  EXPECT_EQ(std::pair(again.shard, again.first_step), std::pair(b.shard, b.first_step));
}

TEST_F(TwoUnits, EveryStepIsDoneOnce) {
  begin();
  auto unit = next(1);
  for (int i = 0; i < 200 && unit.kind != UnitKind::finish; ++i) {
    now = now + seconds(1);
    const auto ahead = unit.id == 0 ? Unit{} : next(1, unit.id);
    if (unit.kind == UnitKind::train) accept(unit);
    if (unit.kind == UnitKind::evaluate) t->evaluated(unit.id, {50, 1.0, {{"accuracy", 0.5}}}, now);
    unit = ahead.id == 0 ? next(1) : ahead;
  }
  EXPECT_TRUE(t->state().finished);
  EXPECT_EQ(t->state().useful_steps, 80);
  EXPECT_EQ(t->state().wasted_steps, 0);
}

TEST_F(TwoUnits, ARoundIsDoneInTurn) {
  auto synchronous = plan();
  synchronous.synchronous = true;
  synchronous.arity = 4;
  begin(synchronous);
  const auto a = next(1);
  EXPECT_EQ(next(1, a.id).kind, UnitKind::wait);
  EXPECT_TRUE(has(a));
  EXPECT_EQ(next(2).kind, UnitKind::train);
  t->accept(a.id, a.steps, 50, 0.5, now);
  EXPECT_EQ(next(1).kind, UnitKind::train);
}

// Units of two seconds each, fetched while the one before is computed.
TEST_F(TwoUnits, NoTimeCountsForTwoUnits) {
  begin();
  auto unit = next(1);
  for (int i = 0; i < 4; ++i) {
    const auto ahead = next(1, unit.id);
    now = now + seconds(2);
    accept(unit);
    unit = ahead;
    while (unit.kind == UnitKind::evaluate) {
      t->evaluated(unit.id, {50, 1.0, {{"accuracy", 0.5}}}, now);
      unit = next(1);
    }
  }
  EXPECT_DOUBLE_EQ(t->workers().at(1).seconds_per_step, 2.0 / 5);
}

TEST_F(TwoUnits, TheDeadlineOfTheSecondAllowsForTheFirst) {
  begin();
  const auto a = next(1), b = next(1, a.id);
  EXPECT_EQ(b.deadline - now, (a.deadline - now) * 2);
  // The first is done much sooner. The second is then due as if it had been given out now.
  now = now + seconds(1);
  accept(a);
  const auto due = t->find(1, b.id)->deadline;
  EXPECT_LT(due, b.deadline);
  const auto c = next(1, b.id);
  EXPECT_LT(c.deadline - now, minutes(1)) << "deadlines do not add up";
}

// Giving back and asking again costs nothing: without a pause one worker could keep the last unit
// of an epoch from all others.
TEST_F(TwoUnits, WhoTakesUnitsAndDoesNoneWaits) {
  for (const bool with_a_word : {true, false}) {
    begin();
    int given = 0;
    for (int i = 0; i < 100; ++i, now = now + base::milliseconds(10)) {
      const auto unit = next(1);
      if (unit.kind == UnitKind::wait) continue;
      ++given;
      if (with_a_word) t->give_back(unit.id, now);
    }
    EXPECT_LE(given, 5) << "in a second";
    now = now + minutes(10);
    accept(next(1));
    EXPECT_EQ(next(1).kind, UnitKind::train) << "what was done counts";
  }
}

TEST_F(TwoUnits, ASecondTryIsForWhoeverIsIdle) {
  auto tiny = plan();
  tiny.epochs = 1;
  tiny.shards = {30};
  tiny.local_steps = 1;
  begin(tiny);
  auto a = next(1);
  now = now + seconds(2);
  accept(a);
  a = next(1);
  const auto b = next(2);
  now = now + seconds(4);  // The first is late, not lost.
  EXPECT_EQ(next(1, a.id).kind, UnitKind::wait);
  EXPECT_EQ(next(3).kind, UnitKind::train);
  EXPECT_TRUE(has(a));
  EXPECT_TRUE(has(b, 2));
}

// A step of these takes a second, and each exchange a tenth of that, which nothing hides: a unit of
// the fewest steps waits too little to be made longer.
Unit after_reports(Training& t, base::Time now) {
  t.initialised(t.next(1, now).id, now);
  for (int i = 0; i < 10; ++i) t.time_spent(1, seconds(8), base::Duration(100'000));
  return t.next(1, now);
}

TEST(UnitsThatFollowTheLine, AreAsShortAsTheyCanBeOnAFastOne) {
  TrainingPlan plan{.shards = {10'000}, .validation = {50}, .epochs = 2, .batch = 10, .workers = 1};
  Training t(plan);
  const base::Time now{1'000'000};
  EXPECT_EQ(after_reports(t, now).steps, plan.fewest_steps(1));
  EXPECT_LT(plan.fewest_steps(1), plan.unit_steps());
}

TEST(UnitsThatFollowTheLine, StayAsTheJobSaysOrAsRoundsNeed) {
  const base::Time now{1'000'000};
  TrainingPlan named{.shards = {10'000},
                     .validation = {50},
                     .epochs = 2,
                     .batch = 10,
                     .local_steps = 40,
                     .workers = 1};
  Training as_named(named);
  EXPECT_EQ(after_reports(as_named, now).steps, 40);
  auto rounds = named;
  rounds.local_steps = 0;
  rounds.synchronous = true;
  Training in_rounds(rounds);
  EXPECT_EQ(after_reports(in_rounds, now).steps, rounds.unit_steps(1, 1));
}

TEST(UnitsThatFollowTheLine, ASlowLineGetsLongerOnesUpToThePlans) {
  TrainingPlan plan{.shards = {10'000}, .validation = {50}, .epochs = 2, .batch = 10, .workers = 1};
  Training t(plan);
  const base::Time now{1'000'000};
  t.initialised(t.next(1, now).id, now);
  for (int i = 0; i < 50; ++i) t.time_spent(1, seconds(1), seconds(1'000'000));
  EXPECT_EQ(t.next(1, now).steps, plan.unit_steps());
}

}  // namespace
}  // namespace souk::train
