#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <optional>

#include "base/random.h"
#include "train/units/training.h"

namespace souk::train {
namespace {

using base::milliseconds;
using base::seconds;
using base::Time;

// Rounds of a second; 4 shards of 1,000 steps.
TrainingPlan by_clock() {
  return {.shards = {10'000, 10'000, 10'000, 10'000},
          .batch = 10,
          .workers = 3,
          .arity = 3,
          .synchronous = true,
          .by_clock = true,
          .round_s = 1};
}

struct Rounds {
  Training t;
  Time now{1'000'000};
  int folds = 0;

  explicit Rounds(TrainingPlan plan = by_clock()) : t(std::move(plan)) {
    t.initialised(t.next(1, now).id, now);
  }
  Unit next(Training::Worker w, std::int64_t keeps = 0) {
    auto unit = t.next(w, now, {}, 0, keeps);
    if (!t.round_over()) return unit;
    fold();
    return t.next(w, now, {}, 0, keeps);
  }
  void fold() {
    ++folds;
    t.folded();
  }
  void accept(const Unit& unit) {
    t.accept(unit.id, unit.steps, 10 * unit.steps, 0.5, now);
    if (t.round_over()) fold();
  }
  // The worker takes so long for a step: as if it had said so, twice.
  void knows(Training::Worker w, double step_s) {
    for (int i = 0; i < 2; ++i) {
      const auto unit = next(w);
      t.time_spent(w, base::as_duration(step_s * static_cast<double>(unit.steps)), {});
      accept(unit);
      now = now + base::seconds(2);
    }
  }
};

TEST(Rounds, MachinesOfDifferentSpeedDoWhatTheyGetDoneInTheSameTime) {
  Rounds r;
  r.knows(1, 0.05);
  r.knows(2, 0.2);
  const auto quick = r.next(1), slow = r.next(2);
  EXPECT_EQ(quick.steps, 20);
  EXPECT_EQ(slow.steps, 5);
  const auto folds = r.folds;
  r.now = r.now + milliseconds(990);
  r.accept(slow);
  EXPECT_EQ(r.next(2).kind, UnitKind::wait) << "one unit in a round";
  EXPECT_EQ(r.folds, folds);
  r.accept(quick);
  EXPECT_EQ(r.folds, folds + 1) << "all have answered";
  EXPECT_EQ(r.next(2).kind, UnitKind::train) << "at once";
}

TEST(Rounds, WhoIsLateIsLeftOutAndNotBlamed) {
  Rounds r;
  r.knows(1, 0.05);
  r.knows(2, 0.05);
  const auto a = r.next(1), late = r.next(2);
  r.accept(a);
  r.now = r.now + milliseconds(1'200);
  EXPECT_EQ(r.next(1).kind, UnitKind::wait) << "it is waited for a little";
  r.now = r.now + milliseconds(100);
  const auto folds = r.folds;
  const auto again = r.next(1);
  EXPECT_EQ(r.folds, folds + 1);
  EXPECT_EQ(again.kind, UnitKind::train);
  EXPECT_EQ(again.first_step, late.first_step) << "what it had goes to another";
  EXPECT_EQ(r.t.find(2, late.id), nullptr);
  EXPECT_EQ(r.t.workers().at(2).lost + r.t.workers().at(2).rejected, 0);
  EXPECT_EQ(r.next(2, late.id).kind, UnitKind::wait) << "it still computes what it had";
  EXPECT_EQ(r.next(2).kind, UnitKind::train);
}

TEST(Rounds, WhoLeavesEndsNothing) {
  Rounds r;
  const auto a = r.next(1), b = r.next(2);
  r.t.gone(2, r.now);
  r.accept(a);
  EXPECT_EQ(r.folds, 1);
  EXPECT_NE(r.next(1).first_step + 1, 0);
  EXPECT_EQ(r.t.find(2, b.id), nullptr);
}

// What is not known yet of a machine makes nobody sleep.
TEST(Rounds, WhoWaitsAsksAgainWhenTheRoundShouldBeOver) {
  Rounds r;
  r.next(2);
  const auto unit = r.next(1);
  r.now = r.now + milliseconds(400);
  r.accept(unit);
  EXPECT_EQ(r.next(1).wait, milliseconds(600));
  r.now = r.now + seconds(1);
  EXPECT_EQ(r.next(1).wait, milliseconds(50)) << "then soon,";
  r.now = r.now + seconds(60);
  EXPECT_EQ(r.next(1).wait, milliseconds(100)) << "and not too often";
}

// A refused update is none, and a round without any is not folded.
TEST(Rounds, ARoundOfNothingIsFollowedByAnother) {
  Rounds r;
  const auto a = r.next(1);
  r.t.reject(a.id, r.now);
  r.now = r.now + base::seconds(3);
  EXPECT_EQ(r.next(1).kind, UnitKind::train);
  EXPECT_EQ(r.folds, 0);
}

// Two ask before the third, take all there is and answer nothing: when the unit of one is taken
// back, the other is there for it. Of what they lose they say that it took no time.
TEST(Rounds, WhoOnlyTakesDoesNotKeepATrainingFromItsEnd) {
  auto plan = by_clock();
  plan.shards = {10'000};
  plan.epochs = 2;
  Rounds r(plan);
  r.knows(1, 0.1);
  std::map<int, std::int64_t> taken;
  std::optional<Unit> has;
  Time done;
  for (int i = 0; i < 100'000 && !r.t.state().finished; ++i) {
    r.now = r.now + milliseconds(10);
    for (const auto thief : {2, 3}) {
      if (r.t.find(thief, taken[thief]) != nullptr) continue;
      r.t.time_spent(thief, base::Duration(1), {});
      taken[thief] = r.next(thief).id;
    }
    if (has && r.now >= done) {
      if (r.t.find(1, has->id) != nullptr) {
        r.t.time_spent(1, base::as_duration(0.1 * static_cast<double>(has->steps)), {});
        r.accept(*has);
      }
      has.reset();
    }
    if (has) continue;
    const auto unit = r.next(1);
    if (unit.kind != UnitKind::train) continue;
    has = unit;
    done = r.now + base::as_duration(0.1 * static_cast<double>(unit.steps));
  }
  EXPECT_EQ(r.t.state().useful_steps, 2'000);
}

// Workers of any speed that come, go, are late and are refused: every step is accepted once, and
// the training ends.
TEST(Rounds, WhateverWorkersDoEveryStepIsAcceptedOnce) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    base::Random random(seed);
    auto plan = by_clock();
    plan.shards = {100, 100, 100, 95};
    plan.epochs = 3;
    plan.validation = {50};
    plan.round_s = random.chance(2) ? 0 : 1;
    Rounds r(plan);
    std::map<Training::Worker, Unit> has;
    int turns = 0;
    for (; !r.t.state().finished && turns < 20'000; ++turns) {
      const auto w = random.between(1, 4);
      r.now = r.now + milliseconds(random.between(0, 400));
      if (random.chance(40)) {
        r.t.gone(w, r.now);
        has.erase(w);
        continue;
      }
      const auto it = has.find(w);
      if (it != has.end() && r.t.find(w, it->second.id) == nullptr) has.erase(it);
      if (!has.contains(w)) {
        r.t.time_spent(w, milliseconds(random.between(1, 500)),
                       milliseconds(random.between(0, 50)));
        const auto unit = r.next(w);
        if (unit.kind == UnitKind::train || unit.kind == UnitKind::evaluate) has[w] = unit;
        if (r.t.check_due()) r.t.begin_check(r.folds, r.now);
        continue;
      }
      const auto unit = has.at(w);
      has.erase(w);
      if (unit.kind == UnitKind::evaluate)
        r.t.evaluated(unit.id, {50, 1, {{"accuracy", 0.5}}}, r.now);
      else if (random.chance(10))
        r.t.reject(unit.id, r.now);
      else
        r.accept(unit);
    }
    ASSERT_TRUE(r.t.state().finished) << "seed " << seed;
    EXPECT_EQ(r.t.state().useful_steps, 120) << "seed " << seed;
  }
}

// Up over the first tenth of all steps, then down a cosine; whatever the units' lengths.
TEST(Training, TheRateFollowsTheWorkDone) {
  const TrainingPlan plan{.shards = {10'000},
                          .epochs = 2,
                          .batch = 10,
                          .local_steps = 50,
                          .lr = 1,
                          .lr_end = 0,
                          .warmup = 0.1};
  Training t(plan);
  Time now{1'000'000};
  t.initialised(t.next(1, now).id, now);
  std::map<std::int64_t, double> rates;
  std::int64_t done = 0;
  for (auto unit = t.next(1, now); unit.kind == UnitKind::train; unit = t.next(1, now)) {
    rates[done] = unit.lr;
    done += unit.steps;
    now = now + milliseconds(100);
    t.accept(unit.id, unit.steps, 10 * unit.steps, 0.5, now);
  }
  EXPECT_EQ(done, 2'000);
  for (const auto& [at, rate] : rates) {
    const auto x = static_cast<double>(at) / 2'000;
    const auto expected = at < 200 ? static_cast<double>(at + 1) / 200
                                   : (1 + std::cos(std::numbers::pi * (x - 0.1) / 0.9)) / 2;
    EXPECT_NEAR(rate, expected, 1e-12) << at;
  }
}

}  // namespace
}  // namespace souk::train
