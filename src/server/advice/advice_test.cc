#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "market/testing/world.h"
#include "server/advice/advice.h"
#include "server/advice/profiles.h"
#include "server/core/parsed_works.h"
#include "wire/json.h"

namespace souk::server {
namespace {

using namespace base::literals;
using base::minutes;
using base::seconds;
using market::testing::kBoss;
using market::testing::wants;
using ::testing::HasSubstr;

struct AdviceTest : ::testing::Test {
  market::testing::World w;
  base::AccountId lena = w.account("lena"), bob = w.account("bob", 50_cr);
  wire::NewJob job{.kind = "train", .workers = {1, 4}, .limit = 1_cr, .budget = 9_cr};

  AdviceTest() {
    auto& train = job.batch.emplace().train.emplace();
    train.epochs = 10;
    train.batch = 50;
    train.local_steps = 10;
    train.shards = {{"s1", 3'000}, {"s2", 3'000}};
  }

  market::SubmitJob as() const {
    market::SubmitJob out{.name = "job",
                          .kind = "train",
                          .slot_class = w.slot_class(),
                          .work = wire::to_json(*job.batch),
                          .pay = market::Pay::work};
    out.terms = wants(job.workers.min, job.workers.max, *job.limit, job.budget);
    if (job.deadline) out.terms.deadline = *job.deadline;
    return out;
  }
  wire::JobPlan plan() const { return plan_of(w.s, job, as(), w.now); }

  // A unit is 10 steps of 50 samples and takes 5 s, 1 of which on the network.
  wire::Training measured(base::LeaseId lease) const {
    wire::Training out{.progress = 1, .elapsed = seconds(600), .bytes_in = 60, .bytes_out = 60};
    out.by_worker.push_back({.worker = to_string(lease),
                             .units = 120,
                             .steps = 1'200,
                             .spent = {.compute = seconds(480), .upload = seconds(120)}});
    return out;
  }

  // Submits it as `command` says and runs it on one worker for so long; what the market learnt.
  std::optional<Lesson> run(const market::SubmitJob& command, base::Duration took = minutes(11)) {
    w.run(market::testing::user(bob), command);
    id = w.s.jobs.before(w.s.jobs.next());
    w.clear();
    const auto leases = w.start_all(id);
    w.pass(took);
    w.run(market::kSystem, market::ReportResult{id, "model", true, "done"});
    auto out = learnt(w.s, w.at(id), *ParsedWorks().of(w.at(id)), measured(leases.front()), 0);
    EXPECT_TRUE(out);
    if (out) w.run(market::kSystem, out->profile);
    return out;
  }
  // The same with what was foretold.
  std::optional<Lesson> run_foretold(base::Duration took) {
    auto command = as();
    foretell(w.s, job, command, w.now);
    EXPECT_NE(command.forecast, "");
    EXPECT_EQ(command.planned, 0);  // No deadline.
    return run(command, took);
  }

  base::JobId id;
};

TEST_F(AdviceTest, TheFirstTrainingOfAMarketGetsAGuessThatSaysSo) {
  w.offer(w.machine(lena), {.slots = 4});
  job.deadline = w.now + base::hours(2);
  const auto p = plan();
  EXPECT_FALSE(p.profiled);
  EXPECT_TRUE(p.guessed);
  EXPECT_EQ(p.method, wire::QuoteMethod::guess);
  ASSERT_EQ(p.candidates.size(), 4u) << p.why;
  for (const auto& row : p.candidates) {
    EXPECT_FALSE(row.chance);  // Nobody knows.
    EXPECT_GE(row.time_high.us, 9 * row.time.us);
    EXPECT_LE(row.time_low.us, row.time.us / 9);
    EXPECT_GE(row.cost_high.micro, 9 * row.cost.micro);
  }
  auto command = as();
  foretell(w.s, job, command, w.now);
  EXPECT_EQ(command.planned, 0);  // Too rough to choose by.
  const auto kept = wire::from_json<wire::JobForecast>(command.forecast);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->quote().method, wire::QuoteMethod::guess);
}

TEST_F(AdviceTest, AFirstGuessCountsWhatTheModelComputesOnTheMachinesThatAreThere) {
  auto fast = w.machine(lena);
  w.offer(fast, {.slots = 1});
  job.workers = {1, 1};
  const auto seconds_of = [&](const std::string& model) {
    job.batch->train->config["model"] = '"' + model + '"';
    return plan().candidates.at(0).time.seconds();
  };
  const auto small = seconds_of("logistic"), large = seconds_of("resnet20");
  // 60,000 samples of three passes of 41 million multiplications, 40 thousand million of which
  // take a core a second or two.
  EXPECT_GT(large, 200);
  EXPECT_LT(large, 800);
  EXPECT_LT(small, large / 5);
  w.run(market::kSystem, market::JudgeMachine{.machine = fast, .lane = base::milliseconds(999)});
  EXPECT_GT(seconds_of("resnet20"), 2 * large) << "its cores are three times as slow";
}

TEST_F(AdviceTest, ATargetMayBeMetInTheFirstEpoch) {
  w.offer(w.machine(lena), {.slots = 1});
  job.workers = {1, 1};
  const auto all = plan().candidates.at(0);
  job.batch->train->target = {.accuracy = 0.9};
  const auto row = plan().candidates.at(0);
  EXPECT_EQ(row.time_high, all.time_high);
  EXPECT_NEAR(row.time_low.seconds(), all.time_low.seconds() / 10, 0.01);
}

TEST_F(AdviceTest, WhatNoMachineHasIsNamed) {
  w.offer(w.machine(lena), {.slots = 4});
  auto command = as();
  command.terms.constraints.packages = {"@torch"};
  EXPECT_THAT(plan_of(w.s, job, command, w.now).why,
              HasSubstr("class c1 that is free now has the built-in trainer (@torch)"));
}

TEST_F(AdviceTest, AnotherKindIsQuotedFromThoseThatRanWithAWideRange) {
  w.offer(w.machine(lena), {.slots = 4, .reserve = 0.2_cr});
  job.workers = {1, 1};
  run(as());
  job.batch->train->config["hidden"] = "64";
  const auto p = plan();
  EXPECT_FALSE(p.profiled);
  EXPECT_EQ(p.method, wire::QuoteMethod::similar);
  EXPECT_EQ(p.runs, 1);
  ASSERT_EQ(p.candidates.size(), 1u) << p.why;
  EXPECT_NEAR(p.candidates[0].time.us / 1e6, 660, 20);  // As the one that ran.
  EXPECT_NEAR(p.candidates[0].time_high.us / 1e6, 4 * 660, 80);
  // What it took is not held against forecasts of its own kind.
  auto command = as();
  foretell(w.s, job, command, w.now);
  EXPECT_FALSE(run(command)->error);
}

TEST_F(AdviceTest, AProgramIsQuotedOnceItsFirstPartIsDone) {
  job.batch->train.reset();
  const auto p = plan();
  EXPECT_TRUE(p.candidates.empty());
  EXPECT_THAT(p.why, HasSubstr("first part"));
}

TEST_F(AdviceTest, AQuoteNamesThePriceTheWorkersAndWhatItRestsOn) {
  w.offer(w.machine(lena), {.slots = 4, .reserve = 0.2_cr});
  job.workers = {1, 1};
  run(as());
  auto command = as();
  foretell(w.s, job, command, w.now);
  const auto quote = wire::from_json<wire::JobForecast>(command.forecast)->quote();
  EXPECT_EQ(quote.method, wire::QuoteMethod::runs);
  EXPECT_EQ(quote.runs, 1);
  EXPECT_EQ(quote.workers, 1);
  EXPECT_EQ(quote.price, 0.2_cr);  // Of four slots at 0.2, one.
}

TEST_F(AdviceTest, OneRunIsEnoughToForetellTheNext) {
  w.offer(w.machine(lena), {.slots = 4, .reserve = 0.2_cr});
  job.workers = {1, 1};
  run(as());
  job.workers = {1, 4};
  const auto p = plan();
  ASSERT_EQ(p.candidates.size(), 4u) << p.why;
  EXPECT_TRUE(p.guessed);  // One run says nothing of how far off forecasts are.
  // 60,000 samples in units of 500 at 5 s, and a minute to start.
  EXPECT_NEAR(p.candidates[0].time.us / 1e6, 660, 20);
  EXPECT_NEAR(p.candidates[1].time.us / 1e6, 360, 20);
  // Ten minutes of work, halfway between what is asked and its limit: alone, it would pay that.
  EXPECT_NEAR(in_credits(p.candidates[0].cost), 0.1, 0.005);
  EXPECT_LT(p.candidates[0].time_low, p.candidates[0].time);
  EXPECT_LT(p.candidates[0].time, p.candidates[0].time_high);
  EXPECT_EQ(std::ranges::count(p.candidates, true, &wire::PlanCandidate::chosen), 1);
}

TEST_F(AdviceTest, WhatIsCutIntoSmallerUnitsExchangesMoreOften) {
  w.offer(w.machine(lena), {.slots = 4, .reserve = 0.2_cr});
  job.workers = {1, 1};
  run(as());
  job.batch->train->shards.assign(60, {"s", 100});
  // 600 units of two steps at 0.4 s and an exchange of a second, and a minute to start.
  EXPECT_NEAR(plan().candidates[0].time.us / 1e6, 1'140, 20);
}

TEST_F(AdviceTest, AMachineThatLeavesIsMissedOnceItHasBeenSilent) {
  w.offer(w.machine(lena), {.slots = 1, .reserve = 0.2_cr});
  job.workers = {1, 1};
  run(as());
  const auto soon = plan().candidates[0].time;
  w.s.settings.silence = base::hours(2);
  // One in ten leases is lost, as if each took an hour.
  EXPECT_NEAR((plan().candidates[0].time - soon).seconds(), 600 * 0.1 * 2, 20);
}

TEST_F(AdviceTest, AnotherModelIsAnotherKindOfTraining) {
  auto other = *job.batch;
  other.train->config["hidden"] = "51";
  EXPECT_NE(profile_key(*job.batch, "c1"), profile_key(other, "c1"));
  other = *job.batch;
  other.train->epochs = 99;  // How long it trains does not change the pace,
  other.train->batch = 51;   // and how the batch does is part of the profile.
  other.train->shards = {{"s3", 5}};
  EXPECT_EQ(profile_key(*job.batch, "c1"), profile_key(other, "c1"));
  EXPECT_NE(profile_key(*job.batch, "c1"), profile_key(*job.batch, "c2"));
}

TEST_F(AdviceTest, WhatIsTooDearOrTooLateIsSaidWithWhatWouldDo) {
  w.offer(w.machine(lena), {.slots = 4, .reserve = 0.5_cr});
  job.workers = {1, 1};
  run(as());
  job.budget = 0.01_cr;
  EXPECT_THAT(plan().why, HasSubstr("least budget"));
  EXPECT_EQ(std::ranges::count(plan().candidates, true, &wire::PlanCandidate::chosen), 0);
  job.budget = 9_cr;
  job.deadline = w.now + seconds(70);
  EXPECT_THAT(plan().why, HasSubstr("tightest deadline"));
  EXPECT_LT(*plan().candidates[0].chance, 0.01);
  job.limit = 0.4_cr;
  EXPECT_THAT(plan().why, HasSubstr("no machine"));
}

TEST_F(AdviceTest, WithADeadlineNoMoreWorkersAreTakenThanItNeeds) {
  w.offer(w.machine(lena), {.slots = 4, .reserve = 0.2_cr});
  job.workers = {1, 1};
  run(as());
  job.workers = {1, 4};
  job.deadline = w.now + base::hours(2);
  auto command = as();
  foretell(w.s, job, command, w.now);
  EXPECT_EQ(command.planned, 1);
  EXPECT_THAT(command.planned_why, HasSubstr("cheapest"));
  w.run(market::testing::user(bob), command);
  const auto id = w.s.jobs.before(w.s.jobs.next());
  w.clear();
  EXPECT_EQ(w.at(id).held, 1);
  w.run(market::kSystem, market::ResizeJob{id, 3, "it is late"});
  w.clear();
  EXPECT_EQ(w.at(id).held, 3);
  EXPECT_EQ(w.refused(market::kSystem, market::ResizeJob{id, 5, ""}).field, "workers");
  EXPECT_EQ(w.refused(market::testing::user(bob), market::ResizeJob{id, 2, ""}).code,
            base::Code::forbidden);
}

TEST_F(AdviceTest, AForecastIsComparedWithWhatHappened) {
  w.offer(w.machine(lena), {.slots = 1, .reserve = 0.2_cr});
  job.workers = {1, 1};
  EXPECT_FALSE(run(as())->error);                 // Nothing was foretold.
  const auto lesson = run_foretold(minutes(22));  // Twice as long.
  EXPECT_NEAR(*lesson->error, 1, 0.05);
  const auto profile = wire::from_json<wire::Profile>(lesson->profile.text);
  ASSERT_EQ(profile->errors.size(), 1u);
  EXPECT_EQ(profile->errors[0], *lesson->error);
  EXPECT_EQ(profile->runs, 2);
}

TEST_F(AdviceTest, WhatEarlierRunsTookMoreIsForetoldAndNotLearntTwice) {
  w.offer(w.machine(lena), {.slots = 1, .reserve = 0.2_cr});
  job.workers = {1, 1};
  const auto known = run(as())->profile;
  auto profile = *wire::from_json<wire::Profile>(known.text);
  profile.errors.assign(9, 0.2);
  w.run(market::kSystem, market::LearnProfile{known.key, wire::to_json(profile)});
  // A minute to start, and ten to work, which were twelve each time.
  EXPECT_NEAR(plan().candidates[0].time.us / 1e6, 780, 20);
  EXPECT_DOUBLE_EQ(plan().measures->longer, 0.2);
  const auto lesson = run_foretold(minutes(13));
  EXPECT_NEAR(*lesson->error, 0, 0.02);
  profile = *wire::from_json<wire::Profile>(lesson->profile.text);
  EXPECT_NEAR(profile.errors.back(), 0.18, 0.02);  // Of all eleven minutes.
}

TEST_F(AdviceTest, AForecastOfAMachineNeverSeenTeachesNoError) {
  const auto first = w.offer(w.machine(lena), {.slots = 1, .reserve = 0.2_cr});
  job.workers = {1, 1};
  run(as());
  w.run(market::testing::user(lena), market::PauseOffer{first, base::kNever});
  w.offer(w.machine(lena), {.slots = 1, .reserve = 0.2_cr});
  const auto lesson = run_foretold(minutes(22));  // As the other one, it was said.
  EXPECT_FALSE(lesson->error);
  const auto profile = wire::from_json<wire::Profile>(lesson->profile.text);
  EXPECT_TRUE(profile->errors.empty());
  EXPECT_EQ(profile->machines.size(), 2u);
}

// Beside c1, a class that is twice as fast and costs 0.8 or more.
struct TwoClassesTest : AdviceTest {
  market::ClassId c1 = w.slot_class("c1"), c4 = w.slot_class("c4");

  TwoClassesTest() {
    w.offer(w.machine(lena), {.slots = 2, .reserve = 0.5_cr}, "c1");
    w.offer(w.machine(lena), {.slots = 2, .reserve = 0.8_cr}, "c4");
    job.workers = {1, 1};
    run(as());
    job.workers = {1, 2};
  }
  void measured_on_c4() {
    auto profile = *known_profile(w.s, *job.batch, c1);
    auto& m = profile.machines.front();
    m.spent.compute = m.spent.compute / 2;
    m.spent.upload = m.spent.upload / 2;
    w.run(market::kSystem,
          market::LearnProfile{profile_key(*job.batch, "c4"), wire::to_json(profile)});
  }
  market::SubmitJob with_both() const {
    auto out = as();
    out.also = {c4};
    return out;
  }
  wire::JobPlan plan() const { return plan_of(w.s, job, with_both(), w.now); }
  static const wire::PlanCandidate& chosen(const wire::JobPlan& p) {
    return *std::ranges::find(p.candidates, true, &wire::PlanCandidate::chosen);
  }
};

TEST_F(TwoClassesTest, AClassThatWasNeverMeasuredIsNamed) {
  const auto p = plan();
  EXPECT_EQ(p.candidates.size(), 2u);
  EXPECT_EQ(chosen(p).class_, "c1");
  EXPECT_THAT(p.why, HasSubstr("; this training was never measured on class c4"));
}

TEST_F(TwoClassesTest, TheBestOfAllClassesIsChosenAndTheJobBeginsThere) {
  measured_on_c4();
  const auto p = plan();
  EXPECT_THAT(p.candidates, ::testing::SizeIs(4)) << p.why;
  EXPECT_EQ(p.candidates[0].class_, "c1");
  EXPECT_EQ(p.candidates[3].class_, "c4");
  EXPECT_EQ(std::ranges::count(p.candidates, true, &wire::PlanCandidate::chosen), 1);
  EXPECT_EQ(&chosen(p), &p.candidates[3]);  // The fastest, without a deadline.
  auto command = with_both();
  foretell(w.s, job, command, w.now);
  EXPECT_EQ(command.slot_class, c4);
  EXPECT_EQ(command.also, std::vector{c1});

  job.deadline = w.now + base::hours(2);
  EXPECT_EQ(chosen(plan()).class_, "c4");  // 0.8 for half the time is less than 0.5.
  job.limit = 0.7_cr;                      // It holds in every class.
  EXPECT_EQ(chosen(plan()).class_, "c1");
  EXPECT_THAT(plan().why, HasSubstr("no machine of class c4"));
}

TEST_F(TwoClassesTest, WhereNoPlanWillDoTheJobBeginsWhereItIsFastest) {
  measured_on_c4();
  job.deadline = w.now + seconds(70);
  auto command = with_both();
  EXPECT_THAT(plan().why, HasSubstr("class c4: no plan"));
  foretell(w.s, job, command, w.now);
  EXPECT_EQ(command.slot_class, c4);
  EXPECT_EQ(command.planned, 0);
}

TEST_F(TwoClassesTest, OfATrainingThatRunsItIsKnownWhatItWouldHaveElsewhere) {
  measured_on_c4();
  w.run(market::testing::user(bob), with_both());
  const auto id = w.s.jobs.before(w.s.jobs.next());
  w.clear();
  EXPECT_EQ(free_workers(w.s, w.at(id), w.now), 0);
  w.start_all(id);
  const auto places = elsewhere(w.s, w.at(id), *ParsedWorks().of(w.at(id)), w.now);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].name, "c4");
  EXPECT_EQ(places[0].most, 2);
  EXPECT_NEAR(places[0].restart_s, 60, 1);  // As it took in c1.
  ASSERT_EQ(places[0].clusters.size(), 2u);
  // 60,000 samples in units of 500 at 2.5 s.
  EXPECT_NEAR(1 / places[0].clusters[0].pace, 300, 10);
  EXPECT_NEAR(1 / places[0].clusters[1].pace, 150, 5);
  EXPECT_NEAR(places[0].clusters[1].price, 2 * 0.9 / 3'600,
              1e-6);  // Half way from 0.8 to its limit.
}

}  // namespace
}  // namespace souk::server
