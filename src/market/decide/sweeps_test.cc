#include <gtest/gtest.h>

#include "market/limits.h"
#include "market/testing/world.h"

// One budget for all trials of a sweep: a cap at every moment, and whole again when they end.

namespace souk::market::testing {
namespace {

using base::Code;

struct Sweeps : ::testing::Test {
  World w;
  AccountId bob = w.account("bob", 100_cr), lena = w.account("lena");
  MachineId m = w.machine(lena);
  OfferId offer = w.offer(m, {.slots = 4, .reserve = 1_cr});

  [[nodiscard]] SubmitJob a_sweep(Credits budget, std::int32_t at_a_time = 2) const {
    return {.name = "s",
            .kind = "sweep",
            .slot_class = w.slot_class(),
            .terms = wants(1, 1, 1_cr, budget),
            .work = "try",
            .most_trials = at_a_time};
  }
  JobId sweep(Credits budget, std::int32_t at_a_time = 2) {
    return only<JobSubmitted>(w.run(user(bob), a_sweep(budget, at_a_time))).job.id;
  }
  [[nodiscard]] Actor market() const { return {.account = bob, .system = true}; }
  [[nodiscard]] SubmitJob a_trial(JobId of, Credits budget) const {
    return {.name = "t",
            .kind = "batch",
            .slot_class = w.slot_class(),
            .terms = wants(1, 1, 1_cr, budget),
            .work = "sort",
            .sweep = of,
            .note = "1"};
  }
  JobId trial(JobId of, Credits budget) {
    return only<JobSubmitted>(w.run(market(), a_trial(of, budget))).job.id;
  }
  [[nodiscard]] Credits left(JobId id) const { return w.s.ledger.hold(hold_of(id))->left; }
  [[nodiscard]] const ledger::Balance& mine() const { return w.s.ledger.balance(bob); }
};

TEST_F(Sweeps, TrialsTakeFromOneBudgetAndNeverMore) {
  const auto id = sweep(10_cr);
  EXPECT_EQ(mine().escrow, 10_cr);
  const auto first = trial(id, 6_cr);
  EXPECT_EQ(left(id), 4_cr);
  EXPECT_EQ(left(first), 6_cr);
  EXPECT_EQ(mine().escrow, 10_cr);
  EXPECT_EQ(mine().available, 90_cr);
  EXPECT_EQ(w.at(id).state, JobState::running);
  const auto refused = w.refused(market(), a_trial(id, 4.1_cr));
  EXPECT_EQ(refused.message, "sweep j1 has 4 credits left, and this needs 4.1");
  EXPECT_EQ(refused.hint, "souk job edit j1 --budget");
  trial(id, 4_cr);
  EXPECT_EQ(w.refused(market(), a_trial(id, 1_cr)).code, Code::exhausted);  // Two at a time.
}

TEST_F(Sweeps, WhatAStoppedTrialHasLeftIsForTheOthers) {
  const auto id = sweep(10_cr);
  const auto first = trial(id, 10_cr);
  w.clear();
  const auto lease = w.at(first).leases.front();
  w.start(lease);
  w.now = w.now + base::minutes(30);
  w.beat(m);
  w.run(kSystem, CancelJob{first, "stopped early"});
  EXPECT_EQ(w.at(first).spent, 0.5_cr);
  EXPECT_EQ(w.at(id).spent, 0.5_cr);
  EXPECT_EQ(left(id), 9.5_cr);
  EXPECT_EQ(w.at(id).state, JobState::queued);
  trial(id, 9.5_cr);
  w.run(kSystem, EndSweep{id, false, "all trials ended"});
  EXPECT_EQ(w.at(id).state, JobState::succeeded);
  EXPECT_EQ(mine().escrow, 0_cr);
  EXPECT_EQ(mine().available, 99.5_cr);
}

TEST_F(Sweeps, CancellingOneEndsEveryTrialAndRefundsAll) {
  const auto id = sweep(10_cr);
  const auto first = trial(id, 3_cr), second = trial(id, 3_cr);
  w.clear();
  w.run(user(bob), CancelJob{id, ""});
  for (const auto t : {first, second}) {
    EXPECT_EQ(w.at(t).state, JobState::cancelled);
    EXPECT_EQ(w.at(t).reason, "sweep j1 has ended: cancelled");
  }
  EXPECT_EQ(mine().available, 100_cr);
  EXPECT_TRUE(w.s.ledger.holds().empty());
}

TEST_F(Sweeps, DeadlineOfTheSweepEndsItsTrialsWhateverElseIsDue) {
  auto c = a_sweep(10_cr);
  c.terms.deadline = w.now + base::hours(1);
  const auto id = only<JobSubmitted>(w.run(user(bob), c)).job.id;
  const auto first = trial(id, 3_cr);
  w.clear();
  w.start(w.at(first).leases.front());
  w.tick(base::hours(2));
  EXPECT_EQ(w.at(id).state, JobState::expired);
  EXPECT_EQ(w.at(first).state, JobState::cancelled);
}

TEST_F(Sweeps, PauseAndResumeHoldForTrials) {
  const auto id = sweep(10_cr);
  const auto first = trial(id, 3_cr);
  w.run(user(bob), PauseJob{id});
  EXPECT_EQ(w.at(first).state, JobState::paused);
  EXPECT_EQ(w.refused(user(bob), ResumeJob{first}).code, Code::conflict);
  EXPECT_EQ(w.refused(market(), a_trial(id, 1_cr)).code, Code::conflict);
  w.run(user(bob), ResumeJob{id});
  EXPECT_EQ(w.at(first).state, JobState::queued);
  EXPECT_EQ(w.at(id).state, JobState::running);
}

TEST_F(Sweeps, EditingOneReachesItsTrialsAndTheyCannotBeEditedAlone) {
  const auto id = sweep(10_cr);
  const auto first = trial(id, 3_cr);
  auto terms = w.at(id).terms;
  terms.limit = 2_cr;
  terms.budget = 12_cr;
  w.run(user(bob), ChangeJob{id, terms});
  EXPECT_EQ(w.at(first).terms.limit, 2_cr);
  EXPECT_EQ(left(id), 9_cr);
  terms = w.at(first).terms;
  terms.budget = 50_cr;
  EXPECT_EQ(w.refused(user(bob), ChangeJob{first, terms}).hint,
            "change the sweep: souk job edit j1");
  EXPECT_EQ(w.refused(kSystem, ChangeJob{first, terms}).code, Code::conflict);
  terms.budget = 5_cr;
  w.run(kSystem, ChangeJob{first, terms});
  EXPECT_EQ(left(id), 7_cr);
  terms = w.at(id).terms;
  terms.budget = 4_cr;  // Five of it are a trial's.
  EXPECT_EQ(w.refused(user(bob), ChangeJob{id, terms}).field, "budget");
}

TEST_F(Sweeps, NobodyButTheMarketStartsTrials) {
  const auto id = sweep(10_cr);
  EXPECT_EQ(w.refused(user(bob), a_trial(id, 1_cr)).code, Code::forbidden);
  EXPECT_EQ(w.refused(kBoss, a_trial(id, 1_cr)).code, Code::forbidden);
  EXPECT_EQ(w.refused({.account = lena, .system = true}, a_trial(id, 1_cr)).code, Code::forbidden);
  EXPECT_EQ(w.refused(user(bob), NoteTrial{id, "x"}).code, Code::forbidden);
  EXPECT_EQ(w.refused(user(bob), EndSweep{id, false, ""}).code, Code::forbidden);
  EXPECT_EQ(w.refused(kSystem, NoteTrial{id, "x"}).message, "job j1 is no trial");
  const auto plain = w.job(bob, wants(1, 1, 1_cr, 1_cr));
  EXPECT_EQ(w.refused(market(), a_trial(plain, 1_cr)).code, Code::forbidden);
}

TEST_F(Sweeps, TrialsAreBoundedAtATimeAndInAll) {
  EXPECT_EQ(w.refused(user(bob), a_sweep(10_cr, kTrialsAtATime + 1)).hint, "use 1 to 64");
  const auto id = sweep(10_cr, 1);
  for (std::size_t i = 0; i < kTrialsPerSweep; ++i)
    w.run(kSystem, CancelJob{trial(id, 1_cr), "stopped early"});
  EXPECT_EQ(w.refused(market(), a_trial(id, 1_cr)).code, Code::exhausted);
  EXPECT_EQ(left(id), 10_cr);
}

TEST_F(Sweeps, TrialsCountAmongTheLiveJobsOfTheirOwner) {
  const auto id = sweep(10_cr);
  trial(id, 1_cr);
  EXPECT_EQ(w.s.index.counts[bob.value].live_jobs, 2);
  w.run(user(bob), CancelJob{id, ""});
  EXPECT_EQ(w.s.index.counts[bob.value].live_jobs, 0);
}

TEST_F(Sweeps, TrialsAreRememberedAsLongAsTheirSweep) {
  const auto id = sweep(10_cr);
  const auto first = trial(id, 1_cr);
  w.run(kSystem, CancelJob{first, "stopped early"});
  w.tick(base::days(40));
  ASSERT_NE(w.s.jobs.find(first), nullptr);
  w.run(kSystem, EndSweep{id, true, "no trial came to anything"});
  EXPECT_EQ(w.at(id).state, JobState::failed);
  w.tick(base::days(31));
  EXPECT_EQ(w.s.jobs.find(first), nullptr);
  EXPECT_EQ(w.s.jobs.find(id), nullptr);
  EXPECT_TRUE(w.s.index.trials_of.empty());
  EXPECT_TRUE(w.s.index.live_sweeps.empty());
}

TEST_F(Sweeps, ASpendersTokenReachesItsTrialsAndIsChargedOnce) {
  IssueToken c{
      .account = bob, .scope = Scope::spend, .expires = w.now + base::hours(24), .limit = 10_cr};
  c.digest.bytes[0] = 7;
  const Actor script{.account = bob,
                     .scope = Scope::spend,
                     .token = only<TokenIssued>(w.run(user(bob), c)).token.id};
  const auto id = only<JobSubmitted>(w.run(script, a_sweep(10_cr))).job.id;
  const auto first = trial(id, 4_cr);
  EXPECT_EQ(w.s.tokens.at(script.token).used, 10_cr);
  w.run(script, CancelJob{first, ""});
  w.run(script, CancelJob{id, ""});
  EXPECT_EQ(w.s.tokens.at(script.token).used, 0_cr);
}

TEST_F(Sweeps, BonusCreditsStayWhatTheyAre) {
  auto settings = w.s.settings;
  settings.signup_bonus = 4_cr;
  w.run(kBoss, GrantCredits{ledger::kPlatform, 10_cr, ""});
  w.run(kBoss, ChangeSettings{settings});
  const auto new_one = w.account("newcomer", 6_cr);
  auto c = a_sweep(8_cr);
  const auto id = only<JobSubmitted>(w.run(user(new_one), c)).job.id;
  for (int i = 0; i < 3; ++i) {
    const auto t =
        only<JobSubmitted>(w.run({.account = new_one, .system = true}, a_trial(id, Credits(5_cr))))
            .job.id;
    w.run(kSystem, CancelJob{t, "stopped early"});
  }
  w.run(user(new_one), CancelJob{id, ""});
  EXPECT_EQ(w.s.ledger.balance(new_one).bonus, 4_cr);
  EXPECT_EQ(w.s.ledger.balance(new_one).available, 6_cr);
}

}  // namespace
}  // namespace souk::market::testing
