#include <gtest/gtest.h>

#include "market/limits.h"
#include "market/testing/world.h"

namespace souk::market::testing {
namespace {

using base::Code;
using base::minutes;

// Two lenders with two slots each, and a borrower with work in numbered parts.
struct Parts : World {
  AccountId lena = account("lena"), luis = account("luis"), bob = account("bob", 10_cr);
  MachineId first = machine(lena), second = machine(luis);

  Parts() {
    offer(first, {.slots = 2, .reserve = 0.1_cr});
    offer(second, {.slots = 2, .reserve = 0.1_cr});
  }
  JobId work(std::int32_t min, std::int32_t max, Retry retry = {}) {
    run(user(bob),
        SubmitJob{"job", "batch", slot_class(), wants(min, max, 1_cr, 5_cr), "sort", retry});
    return s.jobs.before(s.jobs.next());
  }
  std::vector<std::int32_t> open_parts(JobId id) const {
    std::vector<std::int32_t> out;
    for (const auto l : at(id).leases) out.push_back(at(l).part);
    std::ranges::sort(out);
    return out;
  }
  LeaseId on_part(JobId id, std::int32_t part) const {
    for (const auto l : at(id).leases)
      if (at(l).part == part) return l;
    return {};
  }
};

TEST(Parts, EachPartHasALeaseOfItsOwn) {
  Parts w;
  const auto job = w.work(1, 4);
  w.clear();
  EXPECT_EQ(w.open_parts(job), (std::vector{0, 1, 2, 3}));
  for (const auto l : w.at(job).leases) EXPECT_EQ(w.at(l).slots, 1);
}

TEST(Parts, TheJobSucceedsOnlyWhenEveryPartIsDoneAndKeepsTheirResults) {
  Parts w;
  const auto job = w.work(1, 3);
  w.clear();
  w.start_all(job);
  const auto last = w.on_part(job, 1);
  w.finish(w.on_part(job, 0));
  w.finish(w.on_part(job, 2));
  EXPECT_EQ(w.at(job).state, JobState::running);
  w.finish(last);
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
  ASSERT_EQ(w.at(job).parts.size(), 3u);
  EXPECT_EQ(w.at(job).part(1)->result, "r" + to_string(last));
}

TEST(Parts, ALostMachinesPartGoesToAnotherWithItsCheckpoint) {
  Parts w;
  const auto job = w.work(1, 2);
  w.clear();
  w.start_all(job);
  const auto lost = w.on_part(job, 1);
  w.run(w.agent(w.at(lost).machine), CheckpointLease{lost, w.at(lost).epoch, "half"});
  w.finish(w.on_part(job, 0));
  w.run(kSystem, ExpireLease{lost});
  EXPECT_EQ(w.at(job).state, JobState::queued);
  w.clear();
  EXPECT_EQ(w.open_parts(job), (std::vector{1}));
  const auto again = w.on_part(job, 1);
  EXPECT_NE(w.at(again).machine, w.at(lost).machine);
  EXPECT_EQ(w.at(job).part(1)->checkpoint, "half");
  EXPECT_EQ(w.at(job).part(1)->tries, 1);
  // The old one's late word changes nothing.
  EXPECT_EQ(
      w.refused(w.agent(w.at(lost).machine), CheckpointLease{lost, w.at(lost).epoch, "old"}).code,
      Code::conflict);
  w.start(again);
  w.finish(again);
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
}

TEST(Parts, AProgramsOwnFailureEndsTheJobUnlessAskedOtherwise) {
  Parts w;
  const auto job = w.work(1, 2);
  w.clear();
  w.start_all(job);
  w.finish(w.on_part(job, 1), LeaseOutcome::failed);
  EXPECT_EQ(w.at(job).state, JobState::failed);
  EXPECT_EQ(w.at(job).reason, "worker 1: exit");
  EXPECT_EQ(w.s.ledger.hold(hold_of(job)), nullptr);
}

TEST(Parts, FailuresAreRetriedAsOftenAsAsked) {
  Parts w;
  const auto job = w.work(1, 1, {.failed = true, .max = 1});
  w.clear();
  w.finish(w.start_all(job).front(), LeaseOutcome::failed);
  EXPECT_EQ(w.at(job).state, JobState::queued);
  w.clear();
  w.finish(w.start_all(job).front(), LeaseOutcome::failed);
  EXPECT_EQ(w.at(job).state, JobState::failed);
  EXPECT_EQ(w.at(job).reason, "worker 0: exit (2 tries)");
}

TEST(Parts, AMachineThatCannotRunItIsAvoidedAndTheJobGoesOn) {
  Parts w;
  const auto job = w.work(1, 1);
  w.clear();
  const auto lease = w.at(job).leases.front();
  const auto machine = w.at(lease).machine;
  w.finish(lease, LeaseOutcome::unstarted);
  EXPECT_EQ(w.at(job).state, JobState::queued);
  EXPECT_EQ(w.at(lease).paid, Credits());
  w.clear();
  EXPECT_NE(w.at(w.at(job).leases.front()).machine, machine);
}

TEST(Parts, AJobThatCannotBeStartedCostsItATryAndTheMachineNothing) {
  Parts w;
  const auto job = w.work(1, 1);
  w.clear();
  const auto lease = w.at(job).leases.front();
  const auto machine = w.at(lease).machine;
  const auto before = w.s.machines.at(machine).reliability_ppm;
  w.run(w.agent(machine),
        FinishLease{lease, w.at(lease).epoch, LeaseOutcome::unstarted, "no image", "", true});
  EXPECT_EQ(w.s.machines.at(machine).reliability_ppm, before);
  EXPECT_TRUE(w.s.machines.at(machine).online);
  EXPECT_EQ(w.at(job).part(0)->tries, 1);
  w.clear();
  EXPECT_NE(w.at(w.at(job).leases.front()).machine, machine) << "it is avoided all the same";
}

TEST(Parts, AStartThatDidNotWorkIsNotPaid) {
  Parts w;
  const auto job = w.work(1, 1);
  w.clear();
  const auto lease = w.start_all(job).front();
  w.now = w.now + base::milliseconds(100);
  w.finish(lease, LeaseOutcome::unstarted);
  EXPECT_EQ(w.at(lease).outcome, LeaseOutcome::unstarted);
  EXPECT_EQ(w.at(lease).paid, Credits());
  EXPECT_EQ(w.at(job).state, JobState::queued);
}

TEST(Parts, WhatWasPaidForCannotBeReportedAsUnstarted) {
  Parts w;
  const auto job = w.work(1, 1);
  w.clear();
  const auto lease = w.start_all(job).front();
  w.pass(w.s.settings.settle_every);
  ASSERT_GT(w.at(lease).paid, Credits());
  EXPECT_EQ(w.refused(w.agent(w.at(lease).machine),
                      FinishLease{lease, w.at(lease).epoch, LeaseOutcome::unstarted})
                .code,
            Code::conflict);
}

TEST(Parts, ALossThatIsNotToBeRetriedEndsTheJob) {
  Parts w;
  const auto job = w.work(2, 2, {.lost = false});
  w.clear();
  w.start_all(job);
  w.run(kSystem, ExpireLease{w.on_part(job, 0)});
  EXPECT_EQ(w.at(job).state, JobState::failed);
}

TEST(Parts, ManyLeasesThatNeverStartEndTheJobOnceInOneTick) {
  Parts w;
  const auto job = w.work(1, 4, {.max = 0});
  w.clear();
  w.tick(minutes(11));
  EXPECT_EQ(w.at(job).state, JobState::failed);
  EXPECT_TRUE(w.at(job).leases.empty());
}

TEST(Parts, TheNumberOfPartsIsFixed) {
  Parts w;
  const auto job = w.work(1, 2);
  EXPECT_EQ(w.refused(user(w.bob), ChangeJob{job, wants(1, 3, 1_cr, 5_cr)}).field, "workers");
}

TEST(Parts, OfEqualMachinesTheOneThatHoldsTheDataIsTaken) {
  for (const bool second : {false, true}) {
    Parts w;
    const auto wanted = second ? w.second : w.first;
    const auto job = w.work(1, 1);
    w.run(kSystem, Clear{w.slot_class(), 1, {{job, wanted}}});
    EXPECT_EQ(w.at(w.at(job).leases.front()).machine, wanted);
  }
}

TEST(Parts, TwoJobsTradePlacesSoThatEachIsNearItsData) {
  Parts w;
  const auto a = w.work(2, 2), b = w.work(2, 2);
  std::vector<Near> near{{a, w.second}, {b, w.first}};
  std::ranges::sort(near);
  w.run(kSystem, Clear{w.slot_class(), 1, near});
  for (const auto l : w.at(a).leases) EXPECT_EQ(w.at(l).machine, w.second);
  for (const auto l : w.at(b).leases) EXPECT_EQ(w.at(l).machine, w.first);
}

TEST(Parts, DataDoesNotBeatAPrice) {
  Parts w;
  const auto dear = w.machine(w.lena);
  w.offer(dear, {.slots = 1, .reserve = 0.2_cr});
  const auto job = w.work(1, 1);
  w.run(kSystem, Clear{w.slot_class(), 1, {{job, dear}}});
  EXPECT_NE(w.at(w.at(job).leases.front()).machine, dear);
}

TEST(Machine, OneThatFailedAChallengeLendsNothingUntilItPassesOne) {
  Parts w;
  w.run(kSystem, JudgeMachine{w.first, "too slow"});
  w.run(kSystem, JudgeMachine{w.second, "too slow"});
  const auto job = w.work(1, 1);
  w.clear();
  EXPECT_EQ(w.at(job).held, 0);
  w.run(kSystem, JudgeMachine{w.second, ""});
  w.clear();
  EXPECT_EQ(w.at(w.at(job).leases.front()).machine, w.second);
  EXPECT_EQ(w.s.machines.at(w.first).reliability_ppm, 720'000);
  EXPECT_EQ(w.refused(user(w.lena), JudgeMachine{w.first, ""}).code, Code::forbidden);
}

TEST(Parts, WorkRetriesAndNamesAreBounded) {
  Parts w;
  const auto submit = [&](std::int32_t max, std::string work, std::int32_t retries) {
    return w.refused(user(w.bob), SubmitJob{"job",
                                            "batch",
                                            w.slot_class(),
                                            wants(1, max, 1_cr, 5_cr),
                                            std::move(work),
                                            {.max = retries}});
  };
  EXPECT_EQ(submit(1, std::string(kWorkMax + 1, 'x'), 1).code, Code::too_large);
  EXPECT_EQ(submit(kPartsMax + 1, "x", 1).field, "workers");
  EXPECT_EQ(submit(1, "x", kRetriesMax + 1).field, "retry.max");
  EXPECT_EQ(submit(1, "x", -1).field, "retry.max");
  const auto job = w.work(1, 1);
  w.clear();
  const auto lease = w.start_all(job).front();
  const auto agent = w.agent(w.at(lease).machine);
  const std::string name(kNameOfBlobMax + 1, 'x');
  const auto epoch = w.at(lease).epoch;
  EXPECT_EQ(w.refused(agent, CheckpointLease{lease, epoch, name}).code, Code::too_large);
  EXPECT_EQ(w.refused(agent, FinishLease{lease, epoch, LeaseOutcome::completed, "", name}).code,
            Code::too_large);
}

TEST(Parts, ALeaseThatIsNotTakenUpCostsNoTryAndGoesToAnotherMachine) {
  Parts w;
  const auto job = w.work(1, 1, {.lost = false, .max = 0});
  w.clear();
  const auto untaken = w.on_part(job, 0);
  w.run(kSystem, ExpireLease{untaken, true});
  EXPECT_EQ(w.at(untaken).outcome, LeaseOutcome::unstarted);
  EXPECT_EQ(w.at(job).state, JobState::queued);
  EXPECT_EQ(w.at(job).part(0), nullptr);
  EXPECT_LT(w.s.machines.at(w.at(untaken).machine).reliability_ppm, 900'000);
  w.clear();
  EXPECT_NE(w.at(w.on_part(job, 0)).machine, w.at(untaken).machine);
  // Once it runs, there is nothing to take up.
  w.start_all(job);
  EXPECT_TRUE(w.run(kSystem, ExpireLease{w.on_part(job, 0), true}).empty());
}

}  // namespace
}  // namespace souk::market::testing
