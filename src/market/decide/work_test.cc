#include <gtest/gtest.h>

#include "market/limits.h"
#include "market/testing/world.h"

namespace souk::market::testing {
namespace {

using base::Code;
using base::minutes;

// A lender with two slots at exactly 0.5 an hour, and a training job that holds both.
struct Training : World {
  AccountId lena = account("lena"), bob = account("bob", 10_cr);
  MachineId tower = machine(lena);
  JobId job;

  Training() {
    offer(tower, {.slots = 2, .reserve = 0.5_cr});
    run(user(bob), SubmitJob{.name = "job",
                             .kind = "train",
                             .slot_class = slot_class(),
                             .terms = wants(1, 2, 0.5_cr, 5_cr),
                             .work = "fit",
                             .retry = {.lost = true, .failed = true, .max = 1},
                             .pay = Pay::work});
    job = s.jobs.before(s.jobs.next());
    clear();
    start_all(job);
  }
  LeaseId lease(std::size_t i = 0) const { return at(job).leases[i]; }
  void accept(LeaseId id, base::Duration worked, std::int64_t number = 0) {
    run(kSystem, AcceptWork{id, at(id).epoch, worked, number});
  }
};

TEST(PaidByWork, TimeWithoutAcceptedWorkCostsNothing) {
  Training w;
  const auto id = w.lease();
  w.pass(minutes(6));
  w.beat(w.tower);
  EXPECT_EQ(w.at(id).paid, 0_cr);
  w.accept(id, minutes(3));
  w.beat(w.tower);
  w.pass(minutes(1));
  w.beat(w.tower);
  EXPECT_EQ(w.at(id).paid, 0.025_cr);  // 3 minutes at 0.5 an hour.
}

TEST(PaidByWork, AcceptedWorkIsPaidEvenIfTheMachineVanishesAndTheJobGoesOn) {
  Training w;
  const auto id = w.lease();
  w.pass(minutes(6));
  w.accept(id, minutes(6));
  w.run(kSystem, ExpireLease{id});
  EXPECT_EQ(w.at(id).paid, 0.05_cr);
  EXPECT_EQ(w.at(id).outcome, LeaseOutcome::lost);
  EXPECT_EQ(w.at(w.job).state, JobState::running);
  EXPECT_EQ(w.at(w.job).part(w.at(id).part), nullptr);  // It costs no try.
}

TEST(PaidByWork, NobodyIsPaidForMoreTimeThanTheLeaseHasRun) {
  Training w;
  const auto id = w.lease();
  w.pass(minutes(6));
  w.accept(id, base::hours(5));
  w.accept(id, base::hours(5));
  w.finish(id, LeaseOutcome::released);
  EXPECT_EQ(w.at(id).paid, 0.05_cr);
}

TEST(PaidByWork, OnlyTheMarketAcceptsWorkAndOnlyForTraining) {
  Training w;
  const AcceptWork claim{w.lease(), w.at(w.lease()).epoch, minutes(1)};
  EXPECT_EQ(w.refused(w.agent(w.tower), claim).code, Code::forbidden);
  EXPECT_EQ(w.refused(user(w.bob), claim).code, Code::forbidden);
  auto stale = claim;
  stale.epoch += 1;
  EXPECT_EQ(w.refused(kSystem, stale).code, Code::conflict);
}

TEST(PaidByWork, ACompleteResultEndsTheJobAndItsLeasesAndIsKept) {
  Training w;
  const auto first = w.lease(0), second = w.lease(1);
  w.pass(minutes(6));
  w.accept(first, minutes(6));
  EXPECT_EQ(w.refused(user(w.bob), ReportResult{w.job, "m", true, "done"}).code, Code::forbidden);
  w.run(kSystem, ReportResult{w.job, "model", true, "the target was reached"});
  EXPECT_EQ(w.at(w.job).state, JobState::succeeded);
  EXPECT_EQ(w.at(w.job).result, "model");
  EXPECT_EQ(w.at(first).outcome, LeaseOutcome::job);
  EXPECT_EQ(w.at(first).paid, 0.05_cr);
  EXPECT_EQ(w.at(second).paid, 0_cr);
  w.run(kSystem, ReportResult{w.job, "better", false, ""});  // What is left may come later.
  EXPECT_EQ(w.at(w.job).result, "better");
}

TEST(PaidByWork, AJobThatCanNeverHaveAResultFailsAndPaysWhatWasDone) {
  Training w;
  const auto first = w.lease(0);
  w.pass(minutes(6));
  w.accept(first, minutes(6));
  w.run(kSystem, ReportResult{w.job, "", true, "its model is too large"});
  EXPECT_EQ(w.at(w.job).state, JobState::failed);
  EXPECT_EQ(w.at(w.job).reason, "its model is too large");
  EXPECT_EQ(w.at(w.job).result, "");
  EXPECT_EQ(w.at(first).paid, 0.05_cr);
}

TEST(PaidByWork, AProgramThatFailsAgainAndAgainEndsTheJob) {
  Training w;
  w.finish(w.lease(), LeaseOutcome::failed);
  EXPECT_EQ(w.at(w.job).state, JobState::running);
  const auto other = w.lease();
  w.pass(minutes(30));
  w.clear();
  for (const auto id : w.at(w.job).leases)
    if (id != other) {
      w.start(id);
      w.finish(id, LeaseOutcome::failed);
      break;
    }
  EXPECT_EQ(w.at(w.job).state, JobState::failed);
}

TEST(PaidByWork, AWageIsPaidOnceHoweverOftenItIsClaimed) {
  Training w;
  const auto first = w.lease(0), second = w.lease(1);
  w.pass(minutes(6));
  w.accept(first, minutes(1), 1);
  w.accept(second, minutes(2), 2);
  w.accept(first, minutes(1), 1);  // As after a crash, when the claimant does not know any more.
  w.accept(second, minutes(2), 2);
  w.accept(first, minutes(1), 3);
  w.finish(first, LeaseOutcome::released);
  w.finish(second, LeaseOutcome::released);
  w.accept(first, minutes(1), 1);  // Nor is it an error when the lease is closed.
  EXPECT_EQ(w.at(first).paid, base::cost(0.5_cr, 1, minutes(2)));
  EXPECT_EQ(w.at(second).paid, base::cost(0.5_cr, 1, minutes(2)));
  EXPECT_EQ(w.at(w.job).paid_through, 3);
}

TEST(PaidByWork, AUnitThatBeganInOneTermAndEndsInTheNextIsPaidInFull) {
  Training w;
  const auto id = w.lease();
  w.pass(w.at(id).term.until - w.now + minutes(1));
  ASSERT_EQ(w.at(id).state, LeaseState::running);
  ASSERT_EQ(w.now - w.at(id).term.from, minutes(1));
  const auto ran = w.now - w.at(id).started;  // Longer than any term.
  w.accept(id, ran, 1);
  w.finish(id, LeaseOutcome::released);
  EXPECT_EQ(w.at(id).paid, base::cost(0.5_cr, 1, ran));
}

TEST(PaidByWork, WorkThatOneTermDoesNotPayIsPaidByTheNext) {
  Training w;
  const auto id = w.lease();
  w.pass(w.at(id).term.until - w.now - minutes(1));
  ASSERT_TRUE(w.at(id).next);
  w.now = w.at(id).term.until + minutes(1);  // No report has rolled the term over yet.
  const auto ran = w.now - w.at(id).started;
  w.accept(id, ran, 1);
  w.pass(minutes(10));
  EXPECT_EQ(w.at(id).paid, base::cost(0.5_cr, 1, ran));
  w.accept(id, minutes(10), 2);
  w.finish(id, LeaseOutcome::released);
  EXPECT_EQ(w.at(id).paid, base::cost(0.5_cr, 1, ran + minutes(10)));
}

}  // namespace
}  // namespace souk::market::testing
