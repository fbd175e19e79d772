#include "server/advice/profiles.h"

#include <gtest/gtest.h>

#include "market/testing/world.h"
#include "server/core/parsed_works.h"
#include "wire/json.h"

namespace souk::server {
namespace {

using namespace base::literals;
using base::MachineId;
using base::milliseconds;
using base::seconds;

// A kind on machines that take so many seconds for each of their 100 steps.
wire::Profile profile_of(const std::vector<std::pair<MachineId, std::int64_t>>& machines,
                         std::int32_t batch = 32) {
  wire::Profile out{.runs = 1, .bytes = 1'000};
  for (const auto& [id, step] : machines)
    out.machines.push_back({.machine = id,
                            .batch = batch,
                            .units = 10,
                            .steps = 100,
                            .spent = {.compute = seconds(100 * step)}});
  return out;
}

wire::Train training(double target = 0) {
  wire::Train out{.epochs = 10, .batch = 32, .lr = 0.1, .shards = {{"s1", 1'000}}};
  if (target > 0) out.target = {target};
  return out;
}

TEST(Profiles, TimeGrowsWithTheBatchAsItWasMeasured) {
  wire::Profile p;
  EXPECT_DOUBLE_EQ(batch_factor(p, 32, 64), 2);  // For lack of anything better.
  EXPECT_DOUBLE_EQ(batch_factor(p, 32, 32), 1);
  // 6 ms, and 0.5 ms for each sample.
  p.batches = {
      {8, 100, milliseconds(1'000)}, {16, 50, milliseconds(700)}, {32, 200, milliseconds(4'400)}};
  EXPECT_NEAR(batch_factor(p, 32, 64), 38.0 / 22, 1e-6);
  EXPECT_NEAR(batch_factor(p, 32, 8), 10.0 / 22, 1e-6);
  p.batches = {{8, 100, seconds(2)}, {32, 100, seconds(1)}};  // Noise: no batch is free.
  EXPECT_NEAR(batch_factor(p, 32, 64), 1, 1e-6);
}

TEST(Profiles, AForecastIsComparedForWhatWasDone) {
  wire::JobForecast f{.time = seconds(110), .startup = seconds(10)};
  wire::Training t{
      .progress = 0.5, .target = 0.8, .figure = wire::TrainFigure{"accuracy", false, 0.9}};
  EXPECT_DOUBLE_EQ(f.seconds_for(t), 60);  // Nobody expected the target so soon.
  f.part = 0.4;
  EXPECT_DOUBLE_EQ(f.seconds_for(t), 110);
  t = {.progress = 1, .target = 0.8, .figure = wire::TrainFigure{"accuracy", false, 0.7}};
  EXPECT_DOUBLE_EQ(f.seconds_for(t), 260);  // It took all epochs.
  f.longer = 0.25;
  EXPECT_DOUBLE_EQ(f.seconds_for(t), 260);
  EXPECT_DOUBLE_EQ(f.computed_for(t), 210);
}

struct ProfilesTest : ::testing::Test {
  market::testing::World w;
  base::AccountId lena = w.account("lena"), bob = w.account("bob", 50_cr);
  MachineId a = w.machine(lena), b = w.machine(lena), c = w.machine(lena);

  void know(const std::string& key, const wire::Profile& p) {
    w.run(market::kSystem, market::LearnProfile{key, wire::to_json(p)});
  }
};

TEST_F(ProfilesTest, AMachineNeverSeenIsAsItWasAtOtherKinds) {
  const auto here = profile_of({{a, 2}, {b, 4}});
  EXPECT_DOUBLE_EQ(Paces(w.s, w.slot_class(), here, 32).on(a).step_s(), 2);
  EXPECT_DOUBLE_EQ(Paces(w.s, w.slot_class(), here, 64).on(a).step_s(), 4);
  // Nothing is known of c: the average of all steps.
  EXPECT_DOUBLE_EQ(Paces(w.s, w.slot_class(), here, 32).on(c).step_s(), 3);
  know("elsewhere@c2", profile_of({{a, 1}, {c, 50}}));
  EXPECT_DOUBLE_EQ(Paces(w.s, w.slot_class(), here, 32).on(c).step_s(), 3);
  // Three times as slow as a, and once more as b with its noise.
  know("other@c1", profile_of({{a, 10}, {c, 30}}));
  EXPECT_NEAR(Paces(w.s, w.slot_class(), here, 32).on(c).step_s(), 6, 1e-9);
  know("third@c1", profile_of({{b, 8}, {c, 16}}));
  EXPECT_NEAR(Paces(w.s, w.slot_class(), here, 32).on(c).step_s(), std::sqrt(6.0 * 8), 1e-9);
}

// What the market learns from a run of this on machine a.
struct LessonTest : ProfilesTest {
  wire::Profile learn(const wire::Train& train, wire::Training now, std::int64_t memory = 0) {
    w.offer(a);
    market::SubmitJob command{.name = "job", .kind = "train", .slot_class = w.slot_class()};
    command.terms = market::testing::wants(1, 1, 1_cr, 9_cr);
    wire::Batch batch{.train = train};
    command.work = wire::to_json(batch);
    command.pay = market::Pay::work;
    w.run(market::testing::user(bob), command);
    const auto id = w.s.jobs.before(w.s.jobs.next());
    w.clear();
    const auto leases = w.start_all(id);
    w.pass(base::minutes(1));
    w.run(market::kSystem, market::ReportResult{id, "model", true, "done"});
    now.by_worker = {{.worker = to_string(leases.front()),
                      .units = 10,
                      .steps = 100,
                      .spent = {.compute = seconds(50)}}};
    const auto lesson = learnt(w.s, w.at(id), *ParsedWorks().of(w.at(id)), now, memory);
    EXPECT_TRUE(lesson);
    w.run(market::kSystem, lesson->profile);
    const auto out = known_profile(w.s, batch, w.slot_class());
    EXPECT_TRUE(out);
    return *out;
  }
};

TEST_F(LessonTest, ARunWithSeveralBatchesTellsThePaceOfTheFullOne) {
  auto train = training();
  train.measure = true;
  const auto p =
      learn(train,
            {.by_batch = {{8, 25, seconds(5)}, {16, 25, seconds(10)}, {32, 50, seconds(35)}},
             .folds = 100,
             .folding = seconds(2)},
            1 << 30);
  EXPECT_EQ(p.batches.size(), 3u);
  EXPECT_EQ(p.memory, 1 << 30);
  EXPECT_DOUBLE_EQ(p.folds_per_s, 50);
  EXPECT_NEAR(Paces(w.s, w.slot_class(), p, 32).on(a).step_s(), 0.7, 1e-6);
  EXPECT_LT(Paces(w.s, w.slot_class(), p, 16).on(a).step_s(), 0.5);
  // A minute, of which it worked for 50 s.
  EXPECT_NEAR(Paces(w.s, w.slot_class(), p, 32).on(a).startup_s, 10, 1);
  EXPECT_TRUE(p.curve.checks.empty());
  const auto m = measures_of(p);
  EXPECT_EQ(m.memory_bytes, 1 << 30);
  EXPECT_DOUBLE_EQ(m.folds_per_s, 50);
}

TEST_F(LessonTest, TheTargetIsExpectedWhereTheLastRunReachedIt) {
  wire::Training now;
  for (int i = 1; i <= 6; ++i)
    now.rows.push_back({.epoch = i, .samples = 1'000 * i, .accuracy = 1 - 0.5 / (1 + i)});
  const auto p = learn(training(), now);
  EXPECT_FALSE(target_after(p, training()));  // There is none.
  EXPECT_DOUBLE_EQ(*target_after(p, training(0.87)), 0.3);
  // Beyond what was seen, as the curve goes on: 1 - 0.5 / (1 + 8).
  EXPECT_NEAR(*target_after(p, training(1 - 0.5 / 9)), 0.8, 0.01);
  EXPECT_FALSE(target_after(p, training(0.99)));  // Not within ten epochs.
  auto other = training(0.87);
  other.lr = 0.2;
  EXPECT_FALSE(target_after(p, other));
  other = training(0.87);
  other.shards = {{"s2", 1'000}};
  EXPECT_FALSE(target_after(p, other));
}

TEST_F(LessonTest, AShorterRunDoesNotReplaceTheCurveOfALongerOne) {
  wire::Training longer{.rows = {{.epoch = 1, .samples = 1'000, .accuracy = 0.5},
                                 {.epoch = 2, .samples = 2'000, .accuracy = 0.6}}};
  wire::Training shorter{.rows = {{.epoch = 1, .samples = 1'000, .accuracy = 0.55}}};
  learn(training(), longer);
  EXPECT_EQ(learn(training(), shorter).curve.checks.size(), 2u);
  auto other = training();
  other.lr = 0.5;
  EXPECT_EQ(learn(other, shorter).curve.checks.size(), 1u);
}

}  // namespace
}  // namespace souk::server
