#include "train/units/training.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace souk::train {
namespace {

using base::seconds;
using base::Time;

// Four shards of 100 samples in batches of 10: 40 steps an epoch.
TrainingPlan small(std::int32_t epochs = 2) {
  return {.shards = {100, 100, 100, 100},
          .validation = {50},
          .epochs = epochs,
          .batch = 10,
          .local_steps = 5,
          .workers = 3};
}

// A hub without parameters: folds are counted, time moves when told to.
struct Hub {
  Training t;
  Time now{1'000'000};
  std::int64_t version = 0;

  explicit Hub(TrainingPlan plan = small(), TrainingState state = {}) : t(std::move(plan), state) {}

  Unit next(Training::Worker w, const std::set<std::int32_t>& holds = {}) {
    return t.next(w, now, holds);
  }
  void begin(Training::Worker w = 1) {
    const auto unit = next(w);
    ASSERT_EQ(unit.kind, UnitKind::init);
    t.initialised(unit.id, now);
  }
  void accept(const Unit& unit, std::int64_t steps = 0) {
    t.accept(unit.id, steps == 0 ? unit.steps : steps, 10 * unit.steps, 0.5, now);
    ++version;
    t.folded();
    t.begin_check(version, now);
  }
  // One worker does whatever it is given until there is no more.
  int work(Training::Worker w, double accuracy = 0.5, base::Duration pace = seconds(1)) {
    for (int units = 0;; ++units) {
      const auto unit = next(w);
      now = now + pace;
      switch (unit.kind) {
        case UnitKind::finish:
          return units;
        case UnitKind::wait:
          ADD_FAILURE() << "it waits for nobody";
          return units;
        case UnitKind::init:
          t.initialised(unit.id, now);
          break;
        case UnitKind::train:
          accept(unit);
          break;
        case UnitKind::evaluate:
          t.evaluated(unit.id, {50, 1.0, {{"accuracy", accuracy}}}, now);
      }
    }
  }
};

TEST(Training, ABatchIsSharedByThoseWhoAreThere) {
  auto plan = small();
  plan.batch = 64;
  plan.shards = {6400};
  plan.workers = 4;
  Hub hub(plan);
  hub.begin();
  // Nobody knows yet who will come: as many as are wanted.
  const auto first = hub.next(1);
  EXPECT_EQ(first.at_work, 4);
  EXPECT_EQ(first.parts, 4);
  hub.accept(first);
  const auto alone = hub.next(1);
  EXPECT_EQ(alone.at_work, 1);
  EXPECT_EQ(alone.parts, 1);
  const auto second = hub.next(2);
  EXPECT_EQ(second.at_work, 2);
  EXPECT_EQ(second.parts, 2);
}

TEST(Training, EveryStepOfEveryEpochIsDoneOnce) {
  Hub hub;
  hub.work(1);
  EXPECT_TRUE(hub.t.state().finished);
  EXPECT_EQ(hub.t.state().useful_steps, 80);
  EXPECT_EQ(hub.t.state().reason, "all epochs are done");
  EXPECT_EQ(hub.t.progress(), 1);
  EXPECT_EQ(hub.t.epoch(), 2);
  ASSERT_EQ(hub.t.state().rows.size(), 2u);
  EXPECT_EQ(hub.t.state().rows[1].accuracy, 0.5);
}

TEST(Training, ItEndsAtItsTargetWithTheVersionThatReachedIt) {
  auto plan = small(100);
  plan.target = Target{"accuracy", 0.9};
  Hub hub(plan);
  hub.work(1, 0.95);
  EXPECT_EQ(hub.t.state().reason, "the target was reached");
  EXPECT_EQ(hub.t.state().rows.size(), 1u);
  EXPECT_EQ(hub.t.state().final_version, hub.t.state().rows[0].version);
  // A forecast of all epochs is compared with what was done of them.
  EXPECT_EQ(hub.t.epoch(), 1);
  EXPECT_GT(hub.t.progress(), 0);
  EXPECT_LT(hub.t.progress(), 0.05);
}

TEST(Training, OthersWaitForTheFirstParameters) {
  Hub hub;
  const auto first = hub.next(1);
  EXPECT_EQ(first.kind, UnitKind::init);
  EXPECT_EQ(hub.next(2).kind, UnitKind::wait);
  hub.t.gone(1, hub.now);  // Then somebody else makes them.
  EXPECT_EQ(hub.next(2).kind, UnitKind::init);
}

TEST(Training, AUnitWhoseWorkerVanishedGoesToSomebodyElse) {
  Hub hub;
  hub.begin();
  const auto lost = hub.next(1);
  hub.now = hub.now + base::hours(1);
  const auto again = hub.next(2);
  EXPECT_EQ(hub.t.find(1, lost.id), nullptr);  // It comes too late now.
  EXPECT_EQ(again.shard, lost.shard);
  EXPECT_EQ(again.first_step, lost.first_step);
  EXPECT_NE(again.id, lost.id);
  EXPECT_EQ(hub.t.state().wasted_steps, lost.steps);
}

TEST(Training, AUnitWhoseDeadlineIsMovedStaysItsWorkers) {
  Hub hub;
  hub.begin();
  const auto unit = hub.next(1);
  hub.t.set_deadline(unit.id, base::kNever);
  hub.now = hub.now + base::hours(1);
  (void)hub.next(2);
  EXPECT_NE(hub.t.find(1, unit.id), nullptr);
  hub.t.set_deadline(unit.id, unit.deadline);
  (void)hub.next(2);
  EXPECT_EQ(hub.t.find(1, unit.id), nullptr);
}

TEST(Training, ACheckIsDueUntilItBegins) {
  Hub hub;
  hub.begin();
  while (!hub.t.check_due()) {
    const auto unit = hub.next(1);
    hub.t.accept(unit.id, unit.steps, 10 * unit.steps, 0.5, hub.now);
    hub.t.folded();
  }
  EXPECT_TRUE(hub.t.begin_check(1, hub.now));
  EXPECT_FALSE(hub.t.check_due());
}

TEST(Training, AWorkerThatLeavesHandsBackWhatItDidOfAUnit) {
  Hub hub;
  hub.begin();
  const auto unit = hub.next(1);
  hub.accept(unit, 2);
  const auto rest = hub.next(2);
  EXPECT_EQ(rest.shard, unit.shard);
  EXPECT_EQ(rest.first_step, unit.first_step + 2);
  EXPECT_EQ(hub.t.state().wasted_steps, 0);
}

TEST(Training, NobodyElsesUnitCanBeCompleted) {
  Hub hub;
  hub.begin();
  const auto unit = hub.next(1);
  EXPECT_EQ(hub.t.find(2, unit.id), nullptr);
  EXPECT_NE(hub.t.find(1, unit.id), nullptr);
  hub.accept(unit);
  EXPECT_EQ(hub.t.find(1, unit.id), nullptr);  // Not twice.
}

TEST(Training, AWorkerThatHoldsAShardGetsItsUnits) {
  Hub hub;
  hub.begin();
  for (const std::int32_t shard : {3, 0, 2}) EXPECT_EQ(hub.next(1, {shard}).shard, shard);
}

TEST(Training, ASlowMachineDoesFewerStepsAUnit) {
  auto plan = small();
  plan.shards = {1'000, 1'000};
  Hub hub(plan);
  hub.begin();
  for (int i = 0; i < 2; ++i) {
    const auto fast = hub.next(1), slow = hub.next(2);
    hub.now = hub.now + seconds(5);
    hub.accept(fast);
    hub.now = hub.now + seconds(15);
    hub.accept(slow);
  }
  EXPECT_EQ(hub.next(1).steps, 5);
  EXPECT_EQ(hub.next(2).steps, 2);
}

TEST(Training, ADeadlineFollowsTheWorkersOwnPace) {
  Hub hub;
  hub.begin();
  const auto first = hub.next(1);
  EXPECT_GE(first.deadline - hub.now, base::minutes(1));  // Nothing is known of it.
  hub.now = hub.now + seconds(10);
  hub.accept(first);
  const auto second = hub.next(1);
  EXPECT_EQ(second.deadline - hub.now, seconds(40));  // 4 times what it took.
}

TEST(Training, TheLastUnitOfAnEpochIsGivenOutTwiceAndCountsOnce) {
  auto plan = small(1);
  plan.shards = {20};  // Two steps.
  plan.local_steps = 1;
  Hub hub(plan);
  hub.begin();
  const auto first = hub.next(1);
  hub.now = hub.now + seconds(2);
  hub.accept(first);
  const auto second = hub.next(1);
  hub.now = hub.now + seconds(3);
  EXPECT_EQ(hub.next(2).kind, UnitKind::wait);  // The first worker is not very late yet.
  hub.now = hub.now + seconds(1);
  const auto twin = hub.next(2);
  ASSERT_EQ(twin.kind, UnitKind::train);
  EXPECT_EQ(twin.first_step, second.first_step);
  hub.accept(twin);
  EXPECT_EQ(hub.t.find(1, second.id), nullptr);
  EXPECT_EQ(hub.t.state().useful_steps, 2);
}

TEST(Training, ASynchronousRuleHasOnlyItsNumberUnderWay) {
  auto plan = small();
  plan.synchronous = true;
  plan.arity = 2;
  Hub hub(plan);
  hub.begin();
  const auto a = hub.next(1), b = hub.next(2);
  EXPECT_EQ(hub.next(3).kind, UnitKind::wait);
  hub.t.accept(a.id, a.steps, 50, 0.5, hub.now);
  EXPECT_EQ(hub.next(1).kind, UnitKind::wait);
  hub.t.accept(b.id, b.steps, 50, 0.5, hub.now);
  hub.t.folded();
  EXPECT_EQ(hub.next(3).kind, UnitKind::train);
}

TEST(Training, NobodyWaitsForTheSlowestAtTheEndOfAnEpoch) {
  Hub hub;
  hub.begin();
  const auto slow = hub.next(1);
  while (hub.t.state().useful_steps < 35) hub.accept(hub.next(2));
  const auto ahead = hub.next(2);
  EXPECT_EQ(ahead.kind, UnitKind::train);
  EXPECT_EQ(ahead.epoch, 2);
  hub.accept(slow);
  EXPECT_EQ(hub.next(3).kind, UnitKind::evaluate);
}

TEST(Training, AfterACrashWhatWasGivenOutIsDoneAgainUnderNewNames) {
  Hub hub;
  hub.begin();
  hub.accept(hub.next(1));
  const auto lost = hub.next(1);
  Hub again(small(), hub.t.durable(hub.now));
  EXPECT_EQ(again.t.find(1, lost.id), nullptr);
  const auto unit = again.next(1);
  EXPECT_EQ(unit.first_step, lost.first_step);
  EXPECT_NE(unit.id, lost.id);
  again.accept(unit);
  again.work(1);
  EXPECT_EQ(again.t.state().useful_steps, 80);
}

TEST(Training, ARejectedUnitIsDoneAgain) {
  Hub hub;
  hub.begin();
  const auto bad = hub.next(1);
  hub.t.reject(bad.id, hub.now);
  EXPECT_EQ(hub.t.workers().at(1).rejected, 1);
  const auto again = hub.next(2);
  EXPECT_EQ(again.first_step, bad.first_step);
  EXPECT_EQ(again.shard, bad.shard);
}

// Workers that come, go, fall silent, hand back halves and lie, in any order: every step of every
// epoch is still accepted exactly once, and it ends.
TEST(Training, WhateverWorkersDoEveryStepIsAcceptedOnce) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    base::Random random(seed);
    auto plan = small(3);
    plan.validations = 1 + static_cast<std::int32_t>(random.below(3));
    if (random.chance(3)) plan.synchronous = true, plan.arity = 1 + random.below(3);
    Hub hub(plan);
    std::map<Training::Worker, std::vector<Unit>> hands;  // Two at most, in order.
    std::map<std::int64_t, std::int64_t> whole;           // Steps of held units.
    int turns = 0;
    for (; !hub.t.state().finished && turns < 20'000; ++turns) {
      const auto w = random.between(1, 4);
      hub.now = hub.now + base::milliseconds(random.between(0, 2'000));
      if (random.chance(40)) {
        hub.t.gone(w, hub.now);
        continue;
      }
      if (random.chance(500)) {
        hub.t = Training(plan, hub.t.durable(hub.now));
        continue;
      }
      for (const auto id : hub.t.unchecked(hub.now)) hub.accept({.id = id, .steps = whole[id]});
      auto& has = hands[w];
      std::erase_if(has, [&](const Unit& u) { return hub.t.find(w, u.id) == nullptr; });
      if (has.empty() || random.chance(20)) {
        has = {hub.next(w)};
        continue;
      }
      if (has.size() == 1 && random.chance(2)) {
        const bool late = hub.t.find(w, has.front().id)->deadline <= hub.now;
        has.push_back(hub.t.next(w, hub.now, {}, 0, has.front().id));
        ASSERT_TRUE(late || hub.t.state().finished || hub.t.find(w, has.front().id) != nullptr);
        continue;
      }
      const auto unit = *hub.t.find(w, has.front().id);
      if (unit.kind == UnitKind::init)
        hub.t.initialised(unit.id, hub.now);
      else if (unit.kind == UnitKind::evaluate)
        hub.t.evaluated(unit.id, {50, 1, {{"accuracy", 0.5}}}, hub.now);
      else if (const auto original = hub.t.original(unit.id)) {
        const bool agreed = !random.chance(4);
        hub.t.replicated(unit.id, agreed, hub.now);
        if (!agreed)
          hub.t.reject(original, hub.now);
        else
          hub.accept({.id = original, .steps = whole[original]});
      } else if (!plan.synchronous && random.chance(8)) {
        whole[unit.id] = unit.steps;
        hub.t.hold(unit.id, hub.version, hub.now);
      } else if (random.chance(10))
        hub.t.reject(unit.id, hub.now);
      else
        hub.accept(unit, random.between(1, unit.steps));
    }
    ASSERT_TRUE(hub.t.state().finished) << "seed " << seed;
    EXPECT_EQ(hub.t.state().useful_steps, 120) << "seed " << seed;
    EXPECT_EQ(hub.t.state().rows.back().epoch, 3) << "seed " << seed;
  }
}

}  // namespace
}  // namespace souk::train
