#include <gtest/gtest.h>

#include "train/testing/workers.h"
#include "train/units/training.h"

// A model with state that is measured: each check begins with that.

namespace souk::train {
namespace {

using base::seconds;
using base::Time;
using testing::kAnn;
using testing::kBob;
using testing::kCarol;

// Two epochs of four units, each with a check of one shard.
struct MeasuredTraining {
  Training t{{.shards = {200, 200},
              .validation = {50},
              .epochs = 2,
              .batch = 10,
              .local_steps = 10,
              .workers = 3}};
  Time now{1'000'000};
  std::int64_t version = 0;

  MeasuredTraining() { t.measure_state(); }
  Unit next(std::int64_t w, const std::set<std::int32_t>& holds = {}) {
    return t.next(w, now, holds, static_cast<Training::Owner>(w));
  }
  void train_epoch() {
    if (version == 0) t.initialised(next(kAnn).id, now);
    for (int i = 0; i < 4; ++i) {
      const auto unit = next(kAnn);
      ASSERT_EQ(unit.kind, UnitKind::train);
      now = now + seconds(1);
      t.accept(unit.id, unit.steps, 100, 0.5, now);
      t.folded();
      t.begin_check(++version, now);
    }
  }
  void evaluate(std::int64_t w) {
    const auto unit = next(w);
    ASSERT_EQ(unit.kind, UnitKind::evaluate);
    ASSERT_FALSE(unit.measure);
    t.evaluated(unit.id, {50, 1.0, {{"accuracy", 0.5}}}, now);
  }
};

TEST(TrainingStatistics, ACheckIsOfTheStateThatWasMeasuredForIt) {
  MeasuredTraining f;
  f.train_epoch();
  const auto unit = f.next(kAnn, {1});
  EXPECT_TRUE(unit.measure);
  EXPECT_EQ(unit.kind, UnitKind::evaluate);
  EXPECT_EQ(unit.shard, 1);  // Which it holds.
  EXPECT_EQ(unit.version, 4);
  EXPECT_EQ(unit.lr, 0);
  EXPECT_EQ(unit.steps, 4);  // A sixteenth of the epoch's forty, but not fewer.
  // Others learn on meanwhile; nobody checks what is not measured.
  EXPECT_EQ(f.next(kBob).kind, UnitKind::train);
  EXPECT_TRUE(f.t.measured_before(unit.id).empty());
  f.t.state_measured(unit.id, {}, f.now);
  const auto measured = f.t.take_measured();
  ASSERT_EQ(measured.size(), 1);
  EXPECT_EQ(measured[0].version, 4);
  EXPECT_EQ(measured[0].unit, unit.id);
  EXPECT_TRUE(f.t.kept().contains(unit.id));
  const auto check = f.next(kCarol);
  EXPECT_EQ(check.kind, UnitKind::evaluate);
  EXPECT_FALSE(check.measure);
  EXPECT_EQ(check.version, unit.id);
  f.t.evaluated(check.id, {50, 1.0, {{"accuracy", 0.5}}}, f.now);
  ASSERT_EQ(f.t.state().rows.size(), 1);
  EXPECT_EQ(f.t.state().rows[0].version, 4);
  EXPECT_FALSE(f.t.kept().contains(unit.id));
}

TEST(TrainingStatistics, TheLastCheckIsOfWhatTwoOwnersMeasured) {
  MeasuredTraining f;
  f.train_epoch();
  f.t.state_measured(f.next(kAnn).id, {}, f.now);
  f.evaluate(kAnn);
  f.train_epoch();
  (void)f.t.take_measured();
  (void)f.t.take_settled();
  const auto mine = f.next(kAnn);
  ASSERT_TRUE(mine.measure);
  EXPECT_EQ(f.next(kBob).kind, UnitKind::wait);  // Is there.
  EXPECT_EQ(f.next(kCarol).kind, UnitKind::wait);
  f.t.state_measured(mine.id, {}, f.now);
  EXPECT_TRUE(f.t.take_measured().empty());
  EXPECT_EQ(f.next(kAnn).kind, UnitKind::wait);  // Nobody confirms what they said themselves.
  const auto lie = f.next(kBob);
  ASSERT_TRUE(lie.measure);
  EXPECT_EQ(lie.shard, mine.shard);  // The same samples.
  EXPECT_EQ(lie.seed, mine.seed);
  EXPECT_EQ(f.t.measured_before(lie.id), std::vector{mine.id});
  f.t.state_measured(lie.id, {false}, f.now);
  EXPECT_TRUE(f.t.take_measured().empty());
  const auto third = f.next(kCarol);
  ASSERT_TRUE(third.measure);
  f.t.state_measured(third.id, {true, false}, f.now);
  const auto measured = f.t.take_measured();
  ASSERT_EQ(measured.size(), 1);
  EXPECT_EQ(measured[0].unit, mine.id);
  std::map<std::int64_t, bool> settled;
  for (const auto& s : f.t.take_settled()) settled[s.unit] = s.right;
  EXPECT_TRUE(settled.at(mine.id));
  EXPECT_FALSE(settled.at(lie.id));
  EXPECT_TRUE(settled.at(third.id));
  f.evaluate(kAnn);
  f.evaluate(kBob);
  EXPECT_TRUE(f.t.state().finished);
  EXPECT_EQ(f.t.state().final_version, mine.id);
}

TEST(TrainingStatistics, WithoutAnAnswerTheCheckIsOfTheParametersAsTheyAre) {
  MeasuredTraining f;
  f.train_epoch();
  for (int i = 0; i < 3; ++i) {
    const auto unit = f.next(kAnn);
    ASSERT_TRUE(unit.measure) << i;
    f.t.reject(unit.id, f.now, false);
  }
  const auto check = f.next(kAnn);
  EXPECT_FALSE(check.measure);
  EXPECT_EQ(check.version, 4);
  EXPECT_TRUE(f.t.take_measured().empty());
}

TEST(TrainingStatistics, AWorkerThatDiesWithItHoldsUpTheCheckForAMinuteAtMost) {
  MeasuredTraining f;
  f.train_epoch();
  ASSERT_TRUE(f.next(kAnn).measure);
  f.now = f.now + seconds(61);
  const auto check = f.next(kBob);
  EXPECT_EQ(check.kind, UnitKind::evaluate);
  EXPECT_FALSE(check.measure);
}

TEST(TrainingStatistics, AModelWithoutStateIsCheckedAtOnce) {
  Training t{{.shards = {20}, .validation = {50}, .batch = 10, .local_steps = 2}};
  const Time now{1'000'000};
  t.initialised(t.next(kAnn, now).id, now);
  const auto unit = t.next(kAnn, now);
  t.accept(unit.id, unit.steps, 20, 0.5, now);
  t.begin_check(1, now);
  EXPECT_FALSE(t.next(kAnn, now).measure);
}

}  // namespace
}  // namespace souk::train
