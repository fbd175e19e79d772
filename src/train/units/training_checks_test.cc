#include <gtest/gtest.h>

#include <map>

#include "train/testing/workers.h"
#include "train/units/training.h"

// A check that ends a training is done by two owners; pay follows the pace, not the clock.

namespace souk::train {
namespace {

using base::seconds;
using base::Time;
using testing::kAnn;
using testing::kBob;
using testing::kCarol;
using testing::kDave;

// One epoch of four units, whose check is of one shard.
struct CheckedTraining {
  Training t{{.shards = {200}, .validation = {50}, .batch = 10, .local_steps = 5, .workers = 3}};
  Time now{1'000'000};
  std::int64_t version = 0;
  std::map<std::int64_t, bool> settled;

  Unit next(std::int64_t w) { return t.next(w, now, {}, static_cast<Training::Owner>(w)); }
  void settle() {
    for (const auto& s : t.take_settled()) settled[s.unit] = s.right;
  }
  // All is trained by ann; the check is due.
  void train() {
    t.initialised(next(kAnn).id, now);
    for (int i = 0; i < 4; ++i) {
      const auto unit = next(kAnn);
      ASSERT_EQ(unit.kind, UnitKind::train);
      now = now + seconds(1);
      t.accept(unit.id, unit.steps, 50, 0.5, now);
      t.folded();
      t.begin_check(++version, now);
    }
  }
  std::int64_t check(std::int64_t w, double accuracy, std::int64_t samples = 50) {
    const auto unit = next(w);
    EXPECT_EQ(unit.kind, UnitKind::evaluate) << w;
    t.evaluated(unit.id, {samples, 1.0, {{"accuracy", accuracy}}}, now);
    settle();
    return unit.id;
  }
};

TEST(TrainingChecks, ACheckThatEndsTheTrainingIsDoneByTwoOwners) {
  CheckedTraining f;
  f.train();
  const auto mine = f.next(kAnn);
  EXPECT_EQ(f.next(kBob).kind, UnitKind::wait);  // Is there.
  f.t.evaluated(mine.id, {50, 1.0, {{"accuracy", 0.5}}}, f.now);
  f.settle();
  EXPECT_FALSE(f.t.state().finished);
  EXPECT_TRUE(f.settled.empty());
  EXPECT_EQ(f.next(kAnn).kind, UnitKind::wait);  // Nobody confirms what they said themselves.
  const auto theirs = f.check(kBob, 0.505);
  EXPECT_TRUE(f.t.state().finished);
  EXPECT_TRUE(f.t.state().confirmed);
  EXPECT_EQ(f.t.state().reason, "all epochs are done");
  EXPECT_TRUE(f.settled.at(mine.id));
  EXPECT_TRUE(f.settled.at(theirs));
}

TEST(TrainingChecks, WhereTwoDifferAThirdDecidesAndTheOddOneOutIsNotPaid) {
  CheckedTraining f;
  f.train();
  const auto lie = f.next(kBob);
  EXPECT_EQ(lie.kind, UnitKind::evaluate);
  EXPECT_EQ(f.next(kAnn).kind, UnitKind::wait);
  EXPECT_EQ(f.next(kCarol).kind, UnitKind::wait);
  f.t.evaluated(lie.id, {50, 0.0, {{"accuracy", 1.0}}}, f.now);
  const auto first = f.check(kAnn, 0.5);
  EXPECT_FALSE(f.t.state().finished);
  EXPECT_TRUE(f.settled.empty());
  const auto second = f.check(kCarol, 0.5);
  EXPECT_TRUE(f.t.state().finished);
  EXPECT_TRUE(f.t.state().confirmed);
  EXPECT_EQ(f.t.state().rows.back().accuracy, 0.5);
  EXPECT_FALSE(f.settled.at(lie.id));
  EXPECT_TRUE(f.settled.at(first));
  EXPECT_TRUE(f.settled.at(second));
  EXPECT_EQ(f.t.workers().at(kBob).rejected, 1);
}

TEST(TrainingChecks, ATargetThatOnlyALiarReachesEndsNothing) {
  CheckedTraining f;
  f.t = Training({.shards = {200, 200},
                  .validation = {50},
                  .epochs = 100,
                  .batch = 10,
                  .local_steps = 5,
                  .validations = 8,
                  .workers = 3,
                  .target = Target{"accuracy", 0.9}});
  f.t.initialised(f.next(kAnn).id, f.now);
  const auto unit = f.next(kAnn);
  f.now = f.now + seconds(1);
  f.t.accept(unit.id, unit.steps, 50, 0.5, f.now);
  f.t.folded();
  f.t.begin_check(1, f.now);
  const auto lie = f.next(kBob);
  ASSERT_EQ(lie.kind, UnitKind::evaluate);
  EXPECT_EQ(f.next(kAnn).kind, UnitKind::train);
  EXPECT_EQ(f.next(kCarol).kind, UnitKind::train);
  f.t.evaluated(lie.id, {50, 0, {{"accuracy", 1.0}}}, f.now);
  EXPECT_FALSE(f.t.state().finished);
  f.check(kAnn, 0.2);
  f.check(kCarol, 0.2);
  EXPECT_FALSE(f.t.state().finished);
  EXPECT_FALSE(f.settled.at(lie.id));
  EXPECT_EQ(f.t.state().rows.back().accuracy, 0.2);
}

TEST(TrainingChecks, WithNobodyElseThereACheckCountsButIsNotConfirmed) {
  CheckedTraining f;
  f.train();
  const auto unit = f.check(kAnn, 0.5);
  EXPECT_TRUE(f.t.state().finished);
  EXPECT_FALSE(f.t.state().confirmed);
  EXPECT_TRUE(f.settled.at(unit));
}

TEST(TrainingChecks, WhoeverDoesNotConfirmInTimeIsNotWaitedFor) {
  CheckedTraining f;
  f.train();
  const auto mine = f.next(kAnn);
  EXPECT_EQ(f.next(kBob).kind, UnitKind::wait);
  f.t.evaluated(mine.id, {50, 1.0, {{"accuracy", 0.5}}}, f.now);
  EXPECT_EQ(f.next(kBob).kind, UnitKind::evaluate);  // And is never heard of again.
  f.now = f.now + base::minutes(3);
  EXPECT_EQ(f.next(kAnn).kind, UnitKind::finish);
  f.settle();
  EXPECT_FALSE(f.t.state().confirmed);
  EXPECT_TRUE(f.settled.at(mine.id));
}

// --- Figures -----------------------------------------------------------------------------------

TEST(TrainingChecks, ATrainerWithoutAccuracyIsJudgedByItsLoss) {
  CheckedTraining f;
  f.train();
  const auto lie = f.next(kBob);
  EXPECT_EQ(f.next(kAnn).kind, UnitKind::wait);
  EXPECT_EQ(f.next(kCarol).kind, UnitKind::wait);
  f.t.evaluated(lie.id, {50, 0.001, {{"mae", 1}}}, f.now);
  f.t.evaluated(f.next(kAnn).id, {50, 0.5, {{"mae", 7}}}, f.now);
  EXPECT_FALSE(f.t.state().finished);
  f.t.evaluated(f.next(kCarol).id, {50, 0.5001, {{"mae", 7}}}, f.now);
  f.settle();
  ASSERT_TRUE(f.t.state().finished);
  EXPECT_FALSE(f.settled.at(lie.id));
  EXPECT_EQ(f.t.figure(), "loss");
  const auto& row = f.t.state().rows.back();
  EXPECT_EQ(row.validation_loss, 0.5);
  EXPECT_EQ(row.low, 0.5);
  EXPECT_EQ(row.figures, 1);
  EXPECT_EQ(row.metrics, (Metrics{{"mae", 7}}));
}

// Four shards of validation, and a check after each epoch.
struct Lonely {
  explicit Lonely(std::optional<Target> target) {
    plan.target = std::move(target);
    t = Training(plan);
    t.initialised(t.next(kAnn, now).id, now);
  }
  // An epoch, whose check comes to these.
  void epoch(const std::vector<Measured>& shards) {
    for (std::size_t checked = 0; checked < shards.size();) {
      const auto unit = t.next(kAnn, now);
      if (unit.kind == UnitKind::evaluate) {
        ++checked;
        t.evaluated(unit.id, shards[static_cast<std::size_t>(unit.shard)], now);
        continue;
      }
      ASSERT_EQ(unit.kind, UnitKind::train);
      t.accept(unit.id, unit.steps, 50, 0.5, now);
      t.folded();
      t.begin_check(++version, now);
    }
  }
  TrainingPlan plan{.shards = {50}, .validation = {10, 30}, .epochs = 9, .batch = 10};
  Training t{plan};
  Time now{1'000'000};
  std::int64_t version = 0;
};

TEST(TrainingChecks, ATargetOfAnyFigureEndsTheTraining) {
  const std::vector<Measured> bad{{10, 3, {{"rmse", 4}, {"f1", 0.2}}},
                                  {30, 1, {{"rmse", 2}, {"f1", 0.6}}}};
  const std::vector<Measured> good{{10, 1, {{"rmse", 2}, {"f1", 1.0}}},
                                   {30, 1, {{"rmse", 1}, {"f1", 0.9}}}};
  for (const auto& target :
       {Target{"loss", 1, true}, Target{"rmse", 1.4, true}, Target{"f1", 0.92, false}}) {
    Lonely l(target);
    l.epoch(bad);
    EXPECT_FALSE(l.t.state().finished) << target.figure;
    l.epoch(good);
    EXPECT_EQ(l.t.state().reason, "the target was reached") << target.figure;
    EXPECT_EQ(l.t.figure(), target.figure);
  }
  // One that nobody measures is not reached, and the training goes on.
  Lonely l(Target{"bleu", 0, false});
  l.epoch(good);
  EXPECT_FALSE(l.t.state().finished);
  EXPECT_EQ(l.t.state().rows.back().figures, 0);
  EXPECT_EQ(l.t.state().rows.back().metrics.at("f1"), 0.925);
}

TEST(TrainingChecks, NamesThatChangeWithEachCheckDoNotFillTheMemory) {
  Lonely l(Target{"f1", 2, false});
  for (int e = 0; e < 8; ++e) {
    Metrics many{{"f1", 0.5}};
    for (int i = 0; i < 15; ++i) many["e" + std::to_string(e) + "m" + std::to_string(i)] = 1;
    l.epoch({{10, 1, many}, {30, 1, many}});
  }
  std::set<std::string> names;
  for (const auto& row : l.t.state().rows) {
    EXPECT_EQ(row.metrics.at("f1"), 0.5) << "what decides is always kept";
    for (const auto& [name, _] : row.metrics) names.insert(name);
  }
  EXPECT_LE(names.size(), kMostMetrics + 1);
}

TEST(TrainingChecks, RowsFromBeforeThereWereMetricsKeepTheirAccuracy) {
  TrainingState old{.life = 1, .initialised = true};
  old.epochs.push_back({.epoch = 2, .open = {{2, 0, 0, 5}}});
  old.rows.push_back(
      {.epoch = 1, .accuracy = 0.75, .sum = 1.5, .low = 0.7, .high = 0.8, .checks = 2});
  const Training t({.shards = {50}, .validation = {10}, .epochs = 3, .batch = 10}, old);
  EXPECT_EQ(t.figure(), "accuracy");
  EXPECT_EQ(t.state().rows[0].metrics, (Metrics{{"accuracy", 0.75}}));
  EXPECT_EQ(t.state().rows[0].mean(), 0.75);
  old.rows[0].accuracy = old.rows[0].sum = 0;  // A trainer that had none.
  const Training none({.shards = {50}, .validation = {10}, .epochs = 3, .batch = 10}, old);
  EXPECT_EQ(none.figure(), "loss");
  EXPECT_TRUE(none.state().rows[0].metrics.empty());
}

TEST(TrainingChecks, SleepEarnsNothing) {
  Training t({.shards = {100'000}, .batch = 10, .local_steps = 10, .workers = 3});
  Time now(1'000'000);
  const auto work = [&](std::int64_t w, base::Duration took) {
    const auto unit = t.next(w, now, {}, static_cast<Training::Owner>(w));
    EXPECT_EQ(unit.kind, UnitKind::train);
    now = now + took;
    const auto fair = t.fair_time(unit.id, unit.steps);
    t.accept(unit.id, unit.steps, unit.steps * 10, 0.5, now);
    return fair;
  };
  t.initialised(t.next(kAnn, now, {}, kAnn).id, now);
  EXPECT_EQ(work(kAnn, seconds(1)), std::nullopt);  // Nobody's pace is known.
  for (int i = 0; i < 4; ++i) work(kAnn, seconds(1));
  // A stranger who sleeps from the start: three times what others take for as much.
  const auto unit = t.next(kDave, now, {}, kDave);
  now = now + seconds(8);
  EXPECT_EQ(t.fair_time(unit.id, unit.steps), seconds(3));
  EXPECT_LT(*t.fair_time(unit.id, 1), base::milliseconds(301));  // A part is worth its part.
  t.accept(unit.id, unit.steps, 100, 0.5, now);
  // One who slows down: twice what it took before, or three times what others do.
  EXPECT_LE(*work(kAnn, seconds(8)), seconds(2));
}

}  // namespace
}  // namespace souk::train
