#include <gtest/gtest.h>

#include "base/random.h"
#include "market/limits.h"
#include "market/testing/world.h"

namespace souk::market::testing {
namespace {

using base::Code;
using base::hours;
using base::minutes;

struct LenderAndBorrower : World {
  AccountId lena = account("lena"), bob = account("bob", 10_cr);
  MachineId m = machine(lena);
};

TEST(Job, NoPriceOrBudgetCreatesCredits) {
  LenderAndBorrower w;
  const auto submit = [&](JobTerms t) {
    return w.refused(user(w.bob), SubmitJob{"x", "batch", w.slot_class(), t});
  };
  EXPECT_EQ(submit(wants(1, 1, -1_cr, 1_cr)).field, "limit");
  EXPECT_EQ(submit(wants(1, 1, kMostPrice + Credits(1), 1_cr)).field, "limit");
  EXPECT_EQ(submit(wants(1, 1, 1_cr, -1_cr)).field, "budget");
  EXPECT_EQ(submit(wants(1, 1, 1_cr, Credits())).field, "budget");
  EXPECT_EQ(submit(wants(0, 1, 1_cr, 1_cr)).field, "workers");
  EXPECT_EQ(submit(wants(2, 1, 1_cr, 1_cr)).field, "workers");
  EXPECT_EQ(submit(wants(1, kSlotsMax + 1, 1_cr, 1_cr)).field, "workers");
  EXPECT_EQ(submit(wants(100, 100, 6_cr, 1_cr)).field, "budget");  // Not a minute's worth.
  auto t = wants(1, 1, 1_cr, 1_cr);
  t.deadline = w.now;
  EXPECT_EQ(submit(t).field, "deadline");
  t.deadline = base::kNever;
  t.priority = 101;
  EXPECT_EQ(submit(t).field, "priority");
  EXPECT_EQ(w.refused(user(w.lena), PostOffer{w.m, w.slot_class(), {.reserve = -1_cr}}).field,
            "price");
  EXPECT_EQ(
      w.refused(user(w.lena), PostOffer{w.m, w.slot_class(), {.reserve = kMostPrice + Credits(1)}})
          .field,
      "price");
  for (const auto bad : {ClassId(0), ClassId(99)}) {  // Nor does a class that is not there end us.
    EXPECT_EQ(w.refused(user(w.bob), SubmitJob{"x", "batch", bad, wants(1, 1, 1_cr, 1_cr)}).code,
              Code::not_found);
    EXPECT_EQ(w.refused(user(w.lena), PostOffer{w.m, bad, {}}).code, Code::not_found);
    EXPECT_EQ(w.refused(kSystem, Clear{bad, 1}).code, Code::not_found);
  }
}

TEST(Job, AKindIsANameThatTheMarketOnlyKeeps) {
  LenderAndBorrower w;
  SubmitJob job{"x", std::string(kNameMax, 'k'), w.slot_class(), wants(1, 1, 1_cr, 1_cr)};
  w.run(user(w.bob), job);
  EXPECT_EQ(w.s.jobs.at(w.s.jobs.before(w.s.jobs.next())).kind, job.kind);
  job.kind += 'k';
  EXPECT_EQ(w.refused(user(w.bob), job).field, "kind");
}

TEST(Job, ChargingAndSavingAreOneEvent) {
  LenderAndBorrower w;
  EXPECT_EQ(
      w.refused(user(w.bob), SubmitJob{"x", "batch", w.slot_class(), wants(1, 1, 1_cr, 11_cr)})
          .code,
      Code::conflict);
  EXPECT_EQ(w.s.jobs.size(), 0u);
  EXPECT_EQ(w.balance(w.bob), (ledger::Balance{.available = 10_cr}));
  const auto events =
      w.run(user(w.bob), SubmitJob{"x", "batch", w.slot_class(), wants(1, 1, 1_cr, 4_cr)});
  EXPECT_EQ(events.size(), 1u);
  EXPECT_EQ(w.balance(w.bob), (ledger::Balance{.available = 6_cr, .escrow = 4_cr}));
}

TEST(Job, AStateHasOneSpelling) {
  const std::vector<std::string_view> expected{"queued", "running",   "paused", "succeeded",
                                               "failed", "cancelled", "expired"};
  const auto& names = names_of(JobState{});
  EXPECT_EQ(std::vector<std::string_view>(names.begin(), names.end()), expected);
  for (const auto* wrong : {"Running", "RUNNING", "canceled", "done", ""})
    EXPECT_FALSE(base::from_string<JobState>(wrong)) << wrong;
}

TEST(Job, AGangStartsWithAllItsWorkersOrNotAtAll) {
  LenderAndBorrower w;
  w.offer(w.m, {.slots = 2});
  const auto gang = w.job(w.bob, wants(3, 3, 1_cr, 5_cr));
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 0u);
  EXPECT_EQ(w.at(gang).state, JobState::queued);
  w.offer(w.machine(w.lena), {.slots = 1});
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 2u);
  EXPECT_EQ(w.at(gang).held, 3);
}

TEST(Job, AnElasticJobGrowsWhenSlotsAppearAndSurvivesTheirLoss) {
  LenderAndBorrower w;
  w.offer(w.m);
  const auto job = w.job(w.bob, wants(1, 4, 1_cr, 9_cr));
  w.clear();
  EXPECT_EQ(w.at(job).held, 1);
  w.start_all(job);
  w.offer(w.machine(w.lena), {.slots = 5});
  w.clear();
  EXPECT_EQ(w.at(job).held, 4);  // Never more than it wants.
  const auto leases = w.start_all(job);
  w.pass(minutes(5));
  w.finish(leases.back(), LeaseOutcome::released);
  EXPECT_EQ(w.at(job).state, JobState::running);
  EXPECT_EQ(w.at(job).held, 1);
  w.clear();
  EXPECT_EQ(w.at(job).held, 4);
}

TEST(Job, FewerWorkersLeaveNewestFirstWithNoticeAndTheRestStay) {
  LenderAndBorrower w;
  for (int i = 0; i < 3; ++i) w.offer(w.machine(w.lena));
  const auto job = w.job(w.bob, wants(1, 3, 0.1_cr, 5_cr));
  w.clear();
  const auto leases = w.start_all(job);
  w.pass(minutes(57));
  w.run(user(w.bob), ChangeJob{job, wants(1, 2, 0.1_cr, 5_cr)});
  EXPECT_EQ(w.at(leases[2]).state, LeaseState::draining);
  w.pass(minutes(10));  // Past the renewal of the other two.
  EXPECT_EQ(w.at(leases[2]).outcome, LeaseOutcome::term);
  EXPECT_EQ(w.at(leases[0]).state, LeaseState::running);
  EXPECT_EQ(w.at(leases[1]).state, LeaseState::running);
  EXPECT_EQ(w.at(job).held, 2);
}

TEST(Job, AJobThatWantsNoMoreThanHasFinishedSucceeds) {
  LenderAndBorrower w;
  for (int i = 0; i < 2; ++i) w.offer(w.machine(w.lena));
  const auto job = w.job(w.bob, wants(2, 2, 1_cr, 5_cr));
  w.clear();
  const auto leases = w.start_all(job);
  w.pass(minutes(6));
  w.finish(leases[0]);
  EXPECT_EQ(w.at(job).done, 1);
  w.run(user(w.bob), ChangeJob{job, wants(1, 1, 1_cr, 5_cr)});
  w.pass(minutes(6));
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
  EXPECT_EQ(w.balance(w.bob).escrow, Credits());
}

TEST(Job, OneFailedWorkerEndsTheJobAndTheOthersArePaidForWhatTheyDid) {
  LenderAndBorrower w;
  for (int i = 0; i < 2; ++i) w.offer(w.machine(w.lena), {.reserve = 1_cr});
  const auto job = w.job(w.bob, wants(2, 2, 1_cr, 5_cr));
  w.clear();
  const auto leases = w.start_all(job);
  w.pass(minutes(6));
  w.finish(leases[1], LeaseOutcome::failed);
  EXPECT_EQ(w.at(job).state, JobState::failed);
  EXPECT_EQ(w.at(leases[0]).outcome, LeaseOutcome::job);
  EXPECT_EQ(w.balance(w.lena).available, 0.2_cr);
  EXPECT_EQ(w.balance(w.bob), (ledger::Balance{.available = 9.8_cr}));
  EXPECT_EQ(w.refused(user(w.bob), ResumeJob{job}).code, Code::conflict);
  EXPECT_EQ(w.refused(user(w.bob), CancelJob{job, ""}).code, Code::conflict);
}

TEST(Job, ADeadlineEndsTheJobAndReturnsTheRest) {
  LenderAndBorrower w;
  w.offer(w.m, {.reserve = 1_cr});
  auto terms = wants(1, 1, 1_cr, 5_cr);
  terms.deadline = w.now + minutes(30);
  const auto job = w.job(w.bob, terms);
  w.clear();
  const auto lease = w.start_all(job).front();
  EXPECT_EQ(w.at(lease).term.until, terms.deadline);
  w.pass(minutes(30));
  EXPECT_EQ(w.at(job).state, JobState::expired);
  EXPECT_EQ(w.at(job).spent, 0.5_cr);
  EXPECT_EQ(w.balance(w.bob), (ledger::Balance{.available = 9.5_cr}));
  w.tick(w.s.settings.retention);  // And in the end it is forgotten.
  EXPECT_EQ(w.s.jobs.size(), 0u);
  w.tick();
  EXPECT_EQ(w.s.leases.size(), 0u);
}

TEST(Job, ALowEscrowIsWarnedOfOnceThenTheJobPausesWithoutOverrunning) {
  LenderAndBorrower w;
  for (int i = 0; i < 2; ++i) w.offer(w.m, {.reserve = 1_cr});
  const auto job = w.job(w.bob, wants(2, 2, 1_cr, 0.5_cr));  // Fifteen minutes for two.
  w.clear();
  const auto leases = w.start_all(job);
  const auto early = w.pass(minutes(4));
  EXPECT_EQ(count<JobWarned>(early), 0u);
  const auto late = w.pass(minutes(13));
  EXPECT_EQ(count<JobWarned>(late), 1u);
  EXPECT_EQ(w.at(leases[0]).outcome, LeaseOutcome::term);
  EXPECT_EQ(w.at(job).spent, 0.5_cr);
  w.clear();
  EXPECT_EQ(w.at(job).state, JobState::paused);
  EXPECT_EQ(w.at(job).reason, kBudgetUsedUp);
  w.run(user(w.bob), ChangeJob{job, wants(2, 2, 1_cr, 1_cr)});
  w.run(user(w.bob), ResumeJob{job});
  w.clear();
  EXPECT_EQ(w.at(job).held, 2);
  EXPECT_FALSE(w.at(job).warned);
}

TEST(Job, ABudgetHoldsForAwkwardPrices) {
  base::Random random(5);
  for (int i = 0; i < 40; ++i) {
    LenderAndBorrower w;
    Settings v;
    v.fee_ppm = static_cast<std::int32_t>(random.between(0, 500'000));
    v.term = base::seconds(random.between(60, 400));
    w.settings(v);
    const auto price = Credits(random.between(1, 3'000'000));
    const auto slots = static_cast<std::int32_t>(random.between(1, 4));
    w.offer(w.m, {.slots = slots, .reserve = price});
    w.offer(w.m, {.slots = 4, .reserve = Credits(price.micro / 3)});
    const auto budget = Credits(random.between(1, 500'000)) + least_budget(price, 1, v);
    const auto job = w.job(w.bob, wants(1, slots + 2, price, budget));
    for (int n = 0; n < 12; ++n) {
      w.clear();
      w.start_all(job);
      w.pass(minutes(2), Duration(random.between(7'000'001, 59'999'999)));
    }
    EXPECT_LE(w.at(job).spent, budget);
    const auto spent = w.at(job).spent;
    w.run(user(w.bob), CancelJob{job, ""});
    EXPECT_EQ(w.balance(w.bob), (ledger::Balance{.available = 10_cr - w.at(job).spent}));
    EXPECT_LE(w.at(job).spent, budget);
    EXPECT_GE(w.at(job).spent, spent);
    EXPECT_EQ(w.balance(w.lena).available + w.balance(ledger::kPlatform).available,
              w.at(job).spent);
  }
}

TEST(Job, ABudgetCanBeLoweredOnlyToWhatIsNotYetPromised) {
  LenderAndBorrower w;
  w.offer(w.m, {.reserve = 1_cr});
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  w.clear();
  w.start_all(job);
  w.pass(minutes(30));
  const auto error = w.refused(user(w.bob), ChangeJob{job, wants(1, 1, 1_cr, 0.9_cr)});
  EXPECT_EQ(error.field, "budget");
  EXPECT_EQ(error.hint, "use a budget of at least 1");
  w.run(user(w.bob), ChangeJob{job, wants(1, 1, 1_cr, 1_cr)});
  EXPECT_EQ(w.balance(w.bob), (ledger::Balance{.available = 9_cr, .escrow = 0.5_cr}));
  EXPECT_EQ(w.refused(user(w.bob), ChangeJob{job, wants(1, 1, 1_cr, 10.1_cr)}).code,
            Code::conflict);
  EXPECT_EQ(w.refused(user(w.lena), ChangeJob{job, wants(1, 1, 1_cr, 2_cr)}).code, Code::forbidden);
}

TEST(Job, PausingStopsTheMeterAndKeepsTheEscrow) {
  LenderAndBorrower w;
  w.offer(w.m, {.reserve = 1_cr});
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  w.clear();
  w.start_all(job);
  w.pass(minutes(6));
  w.run(user(w.bob), PauseJob{job});
  w.pass(hours(1));
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 0u);
  EXPECT_EQ(w.at(job).spent, 0.1_cr);
  EXPECT_EQ(w.balance(w.bob), (ledger::Balance{.available = 5_cr, .escrow = 4.9_cr}));
  w.run(user(w.bob), ResumeJob{job});
  w.clear();
  EXPECT_EQ(w.at(job).state, JobState::running);
  EXPECT_TRUE(w.run(user(w.bob), ResumeJob{job}).empty());
}

}  // namespace
}  // namespace souk::market::testing
