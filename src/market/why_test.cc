#include "market/why.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "market/testing/world.h"

namespace souk::market::testing {
namespace {

using base::minutes;

struct WhyMarket : World {
  AccountId lena = account("lena"), bob = account("bob", 100_cr);

  MachineId with(MachineSpec spec) {
    spec.cores = 8;
    spec.memory_mib = 65'536;
    return machine(lena, std::move(spec));
  }
  Why ask(JobId id) const { return why(s, s.jobs.at(id), now); }
  const Relaxation* find(const Why& w, RelaxKind kind) const {
    const auto it = std::ranges::find(w.relaxations, kind, &Relaxation::kind);
    return it == w.relaxations.end() ? nullptr : &*it;
  }
};

TEST(Why, EachObstacleIsNamed) {
  WhyMarket w;
  const auto m = w.with({.region = "us", .provider = "ec2", .rtt_ms = 80});
  const auto offer = w.offer(m, {.reserve = 0.5_cr});
  JobTerms fits = wants(1, 1, 1_cr, 5_cr);
  const auto expect = [&](JobTerms terms, std::vector<Obstacle> obstacles, const char* what) {
    const auto job = w.job(w.bob, terms);
    const auto answer = w.ask(job);
    ASSERT_EQ(answer.groups.size(), 1u) << what;
    EXPECT_EQ(answer.groups[0].obstacles, obstacles) << what;
    EXPECT_EQ(answer.groups[0].offers, 1) << what;
    EXPECT_EQ(answer.groups[0].example, offer) << what;
    EXPECT_EQ(answer.matching, 0) << what;
    EXPECT_TRUE(answer.summary.starts_with("it needs 1 slot and none match")) << what;
    w.run(user(w.bob), CancelJob{job, ""});
  };
  auto t = fits;
  t.limit = 0.4_cr;
  expect(t, {Obstacle::price}, "price");
  t = fits, t.constraints.packages = {"numpy"};
  expect(t, {Obstacle::packages}, "packages");
  t = fits, t.constraints.regions = {"eu"};
  expect(t, {Obstacle::region}, "region");
  t = fits, t.constraints.max_rtt_ms = 50;
  expect(t, {Obstacle::rtt}, "rtt");
  t = fits, t.constraints.min_reliability_ppm = 950'000;
  expect(t, {Obstacle::reliability}, "reliability");
  t = fits, t.constraints.lenders_refused = {w.lena};
  expect(t, {Obstacle::lender}, "lender");
  t = fits, t.constraints.providers_allowed = {"community"}, t.limit = 0.1_cr;
  expect(t, {Obstacle::price, Obstacle::provider}, "provider and price");
  w.run(user(w.lena), PauseOffer{offer, w.now + minutes(9)});
  expect(fits, {Obstacle::paused}, "paused");
  w.run(user(w.lena), PauseOffer{offer, w.now});
  w.run(kBoss, FreezeAccount{w.lena, "checks"});
  expect(fits, {Obstacle::frozen}, "frozen");
  w.run(kBoss, FreezeAccount{w.lena, ""});
  OfferTerms later{.reserve = 0.5_cr};
  later.availability.once = Interval{w.now + minutes(20), base::kNever};
  w.run(user(w.lena), ChangeOffer{offer, later});
  expect(fits, {Obstacle::window}, "window");
  w.run(user(w.lena), ChangeOffer{offer, {.reserve = 0.5_cr}});
  const auto holder = w.job(w.bob, fits);
  w.clear();
  expect(fits, {Obstacle::full}, "full");
  w.start_all(holder);
  w.run(kSystem, ExpireLease{w.at(holder).leases.front()});
  expect(fits, {Obstacle::offline}, "offline");
  w.beat(m);
  EXPECT_EQ(w.ask(holder).groups.at(0).obstacles, std::vector{Obstacle::avoided});
  w.run(user(w.bob), CancelJob{holder, ""});
  w.run(user(w.lena), DrainOffer{offer});
  expect(fits, {Obstacle::draining}, "draining");
}

TEST(Why, EachRelaxationAloneWouldLetTheJobStart) {
  struct Row {
    RelaxKind kind;
    void (*demand)(JobTerms&);
    const char* flag;
  };
  const Row rows[] = {
      {RelaxKind::packages, [](JobTerms& t) { t.constraints.packages = {"numpy"}; },
       "--packages any"},
      {RelaxKind::region, [](JobTerms& t) { t.constraints.regions = {"eu"}; }, "--regions any"},
      {RelaxKind::rtt, [](JobTerms& t) { t.constraints.max_rtt_ms = 5; }, "--max-rtt any"},
      {RelaxKind::reliability, [](JobTerms& t) { t.constraints.min_reliability_ppm = 990'000; },
       "--min-reliability any"},
      {RelaxKind::lender, [](JobTerms& t) { t.constraints.lenders_refused = {AccountId(2)}; },
       "--lenders any"},
      {RelaxKind::provider, [](JobTerms& t) { t.constraints.providers_refused = {"community"}; },
       "--providers any"},
      {RelaxKind::price, [](JobTerms& t) { t.limit = 0.4_cr; }, "--price 0.6"},
      {RelaxKind::workers, [](JobTerms& t) { t.workers = {4, 6}; }, "--workers 3..6"},
  };
  for (const auto& row : rows) {
    WhyMarket w;
    w.offer(w.with({.region = "us", .rtt_ms = 80}), {.slots = 3, .reserve = 0.6_cr});
    auto terms = wants(2, 2, 1_cr, 5_cr);
    row.demand(terms);
    const auto job = w.job(w.bob, terms);
    const auto answer = w.ask(job);
    const auto* r = w.find(answer, row.kind);
    ASSERT_NE(r, nullptr) << row.flag;
    EXPECT_EQ(r->flag, row.flag);
    EXPECT_EQ(r->slots, 3);
    EXPECT_EQ(r->extra, row.kind == RelaxKind::price ? 0.4_cr : Credits());  // 0.2 for two workers.
    EXPECT_EQ(answer.relaxations.size(), 1u) << row.flag;
    EXPECT_EQ(count<LeaseGranted>(w.clear()), 0u) << "without it the job does not start";
  }
}

// An advice to drop it would give the job to a machine that cannot run it.
TEST(Why, WhatTheJobCannotRunWithoutIsNotToBeDropped) {
  WhyMarket w;
  w.offer(w.with({.packages = {"ffmpeg"}}));
  auto terms = wants(1, 1, 1_cr, 5_cr);
  for (const auto& demands :
       {std::vector<std::string>{"@torch"}, std::vector<std::string>{"@torch", "numpy"}}) {
    terms.constraints.packages = demands;
    const auto answer = w.ask(w.job(w.bob, terms));
    EXPECT_EQ(w.find(answer, RelaxKind::packages), nullptr);
    EXPECT_THAT(answer.summary, ::testing::HasSubstr("demand for the built-in trainer (@torch)"));
  }
  w.offer(w.with({.packages = {"@torch"}}));
  const auto answer = w.ask(w.job(w.bob, terms));
  const auto* drop = w.find(answer, RelaxKind::packages);
  ASSERT_NE(drop, nullptr);
  EXPECT_EQ(drop->change, "drop the demand for packages numpy");
  EXPECT_EQ(drop->flag, "--packages '@torch'");
  EXPECT_EQ(drop->slots, 1);
}

TEST(Why, MachinesThatNearlyHaveThePackagesAreNamedAndTheJobMayBringThem) {
  WhyMarket w;
  w.offer(w.with({.packages = {"python==3.11.2", "torch==1.13.1", "@x86_64"}}));
  w.offer(w.with({.packages = {"python==3.11.2", "@x86_64"},
                  .environments = {{"new", {"python==3.12.1", "torch==2.4.0+cu124"}},
                                   {"old", {"python==3.9.1", "NumPy==1.26.0"}}}}));
  w.offer(w.with({.packages = {"ffmpeg"}}));
  auto terms = wants(2, 2, 1_cr, 5_cr);
  terms.constraints.packages = {"@x86_64", "torch>=2.4", "numpy"};
  const auto job = w.job(w.bob, terms);
  const auto answer = w.ask(job);
  ASSERT_EQ(answer.nearly.size(), 3u);
  EXPECT_EQ(answer.nearly[0].environment, "new");
  EXPECT_EQ(answer.nearly[0].lacks, std::vector<std::string>{"numpy"});
  EXPECT_EQ(answer.nearly[1].environment, "");
  EXPECT_EQ(answer.nearly[1].lacks,
            (std::vector<std::string>{"torch>=2.4 (it has 1.13.1)", "numpy"}));
  const auto* brings = w.find(answer, RelaxKind::environment);
  ASSERT_NE(brings, nullptr);
  EXPECT_EQ(brings->change,
            "bring the packages with the job: environment: {requirements: ['torch>=2.4', "
            "'numpy']} in its file, instead of packages:");
  EXPECT_EQ(brings->slots, 2) << "one of the machines has no Python";
  EXPECT_EQ(w.find(answer, RelaxKind::packages), nullptr);
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 0u);

  terms.constraints.packages = {"torch>=2.4", "cuda"};
  EXPECT_NE(w.find(w.ask(w.job(w.bob, terms)), RelaxKind::environment), nullptr);
  terms = wants(1, 1, 1_cr, 5_cr);
  terms.constraints.packages = {"torch>=2.4,<3", "python>=3.12", "@x86_64"};
  w.job(w.bob, terms);
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 1u) << "all of it is in one environment";
}

TEST(Why, WaitingIsSuggestedWithTheTimeWhenEnoughSlotsAreFree) {
  WhyMarket w;
  OfferTerms later;
  later.availability.once = Interval{w.now + minutes(20), base::kNever};
  w.offer(w.with({}), later);
  const auto paused = w.offer(w.with({}));
  w.run(user(w.lena), PauseOffer{paused, w.now + minutes(40)});
  const auto* waits = "wait until 2026-01-05T00:40:00Z";
  const auto pair = w.job(w.bob, wants(2, 2, 1_cr, 5_cr));
  const auto answer = w.ask(pair);
  ASSERT_NE(w.find(answer, RelaxKind::wait), nullptr);
  EXPECT_EQ(w.find(answer, RelaxKind::wait)->change, waits);
  auto hurried = wants(2, 2, 1_cr, 5_cr);
  hurried.deadline = w.now + minutes(30);
  EXPECT_EQ(w.find(w.ask(w.job(w.bob, hurried)), RelaxKind::wait), nullptr);
}

TEST(Why, ABiggerClassAndABiggerBudgetAreSuggestedWhenTheyWouldHelp) {
  WhyMarket w;
  w.offer(w.with({}), {.reserve = 0.9_cr}, "c4");
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  const auto bigger = w.ask(job);
  ASSERT_NE(w.find(bigger, RelaxKind::slot_class), nullptr);
  EXPECT_EQ(w.find(bigger, RelaxKind::slot_class)->flag, "--class c4");
  w.run(user(w.bob), CancelJob{job, ""});

  w.offer(w.with({}), {.slots = 2, .reserve = 1_cr});
  const auto poor = w.job(w.bob, wants(1, 1, 1_cr, 0.1_cr));
  w.clear();
  w.start_all(poor);
  w.pass(minutes(8));
  w.clear();
  EXPECT_EQ(w.at(poor).state, JobState::paused);
  const auto answer = w.ask(poor);
  EXPECT_EQ(answer.summary, "it is paused: its budget is used up");
  ASSERT_NE(w.find(answer, RelaxKind::budget), nullptr);
  EXPECT_EQ(w.find(answer, RelaxKind::budget)->flag, "--budget 0.116667");
}

TEST(Why, TheCheapestChangeComesFirst) {
  WhyMarket w;
  w.offer(w.with({.region = "us"}), {.slots = 2, .reserve = 0.6_cr});
  w.offer(w.with({.region = "eu"}), {.slots = 2, .reserve = 2_cr});
  w.offer(w.with({.region = "eu"}), {.slots = 2, .reserve = 3_cr});
  w.offer(w.with({.region = "eu"}), {.slots = 1, .reserve = 0.6_cr});
  auto terms = wants(2, 2, 1_cr, 5_cr);
  terms.constraints.regions = {"eu"};
  const auto answer = w.ask(w.job(w.bob, terms));
  ASSERT_EQ(answer.relaxations.size(), 3u);
  EXPECT_EQ(answer.relaxations[0].kind, RelaxKind::workers);
  EXPECT_EQ(answer.relaxations[1].kind, RelaxKind::region);
  EXPECT_EQ(answer.relaxations[2].kind, RelaxKind::price);
  EXPECT_EQ(answer.relaxations[2].extra, 2_cr);  // Two credits instead of one, for two workers.
  EXPECT_EQ(answer.groups.size(), 2u);           // Price alone: 4 slots; region alone: 2.
  EXPECT_EQ(answer.groups[0].slots, 4);
  EXPECT_EQ(answer.summary, "it needs 2 slots and 1 match");
}

TEST(Why, AJobThatNeedsNothingIsToldSo) {
  WhyMarket w;
  w.offer(w.with({}));
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  EXPECT_EQ(w.ask(job).summary,
            "it needs 1 slot and 1 match: the next round decides, or others bid more");
  w.clear();
  EXPECT_EQ(w.ask(job).summary, "it has all the workers it wants");
  w.run(user(w.bob), CancelJob{job, "changed my mind"});
  EXPECT_EQ(w.ask(job).summary, "it was cancelled: changed my mind");
  EXPECT_TRUE(w.ask(job).relaxations.empty());
}

TEST(Why, ADemandThatNoOfferMeetsIsNamed) {
  WhyMarket w;
  w.offer(w.with({.region = "us"}));
  w.offer(w.with({.region = "us"}), {.reserve = 5_cr});
  auto terms = wants(1, 1, 1_cr, 5_cr);
  terms.constraints.regions = {"atlantis"};
  EXPECT_EQ(w.ask(w.job(w.bob, terms)).summary,
            "it needs 1 slot and none match: no offer meets its demand for regions atlantis");
}

TEST(Why, AMachineThatIsNotHeardFromIsOffline) {
  WhyMarket w;
  const auto m = w.with({});
  w.offer(m);
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  const auto answer = why(w.s, w.at(job), w.now, std::vector{m});
  EXPECT_EQ(answer.matching, 0);
  EXPECT_EQ(answer.groups.at(0).obstacles, std::vector{Obstacle::offline});
}

TEST(Why, AMachineThatOnlyLacksAProofIsNamed) {
  WhyMarket w;
  const auto m = w.with({.region = "us"});
  const auto offer = w.offer(m), second = w.offer(w.with({.region = "us"}));
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  w.run(kSystem, JudgeMachine{m, "it has not met its first challenge yet", true});
  EXPECT_EQ(w.ask(job).matching, 1);
  w.run(kSystem, JudgeMachine{w.s.offers.at(second).machine, "too busy"});
  auto answer = w.ask(job);
  EXPECT_EQ(answer.matching, 0);
  EXPECT_EQ(answer.groups.at(0).obstacles, std::vector{Obstacle::unproved});
  EXPECT_EQ(answer.unproved, (std::vector{offer, second}));
  EXPECT_EQ(answer.summary,
            "it needs 1 slot and none match: the machines of 2 offers that would do are not yet "
            "proved");
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 0U);
  w.run(user(w.lena), PauseOffer{offer, w.now + minutes(9)});
  answer = w.ask(job);
  EXPECT_EQ(answer.unproved, std::vector{second}) << "it would not do if it were proved";
  EXPECT_EQ(answer.summary,
            "it needs 1 slot and none match: a machine that would do is not yet proved");
  w.run(kSystem, JudgeMachine{m, ""});
  w.run(kSystem, JudgeMachine{w.s.offers.at(second).machine, ""});
  EXPECT_TRUE(w.ask(job).unproved.empty());
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 1U);
}

TEST(Why, AMechanismThatNeedsMoreOrdersThanThereAreSaysSo) {
  WhyMarket w;
  auto c = w.s.slot_class(w.slot_class());
  c.trial = Trial{"mcafee", {}, base::hours(1)};
  w.run(kBoss, SetClass{c});
  w.now = w.now + base::hours(1);
  w.offer(w.with({}));
  w.offer(w.with({}));
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 0U);
  EXPECT_EQ(w.ask(job).summary,
            "it needs 1 slot and 2 match, but mechanism mcafee trades nothing with fewer than 2 "
            "bids and 2 asks, and there is 1 bid and 2 asks; k-double has its turn at "
            "2026-01-05T02:00:00Z");
  w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  EXPECT_EQ(w.ask(job).summary,
            "it needs 1 slot and 2 match: the next round decides, or others bid more");
}

}  // namespace
}  // namespace souk::market::testing
