#include <gtest/gtest.h>

#include "market/testing/world.h"
#include "mechanism/mechanism.h"

namespace souk::market {
namespace {

using namespace base::literals;

using testing::count;
using testing::kBoss;
using testing::only;
using testing::user;
using testing::wants;

// A market with four machines of one slot, each of an owner of its own, and a borrower.
class Gangs : public ::testing::Test {
 protected:
  testing::World w;
  AccountId bob;
  std::vector<MachineId> machines;

  Gangs() {
    bob = w.account("bob", 100_cr);
    auto settings = w.s.settings;
    settings.probes_ppm = 0;
    w.settings(settings);
    for (int i = 0; i < 4; ++i) lend();
  }

  void lend() {
    const auto owner = w.account("lender" + std::to_string(machines.size()));
    machines.push_back(w.machine(owner));
    w.offer(machines.back(), {.slots = 1, .reserve = 0.1_cr});
  }

  JobId submit(std::int32_t min, std::int32_t max, bool led = false, Retry retry = {}) {
    SubmitJob c{"gang", "gang", w.slot_class(), wants(min, max, 1_cr, 10_cr), "work"};
    c.gang = true;
    c.led = led;
    c.retry = retry;
    w.run(user(bob), c);
    return w.s.jobs.before(w.s.jobs.next());
  }

  // Granted, ready and started; its leases.
  std::vector<LeaseId> running(JobId job) {
    w.clear();
    return w.start_all(job);
  }

  LeaseState state(LeaseId id) const { return w.at(id).state; }

  // Everybody who was told to go goes.
  void leave(JobId job) {
    for (const auto id : std::vector(w.at(job).leases))
      if (w.at(id).state == LeaseState::draining) w.finish(id, LeaseOutcome::released);
  }
};

TEST_F(Gangs, AreGrantedAllWorkersInOneRoundOrNone) {
  const auto job = submit(5, 5);
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 0u);
  EXPECT_EQ(w.at(job).held, 0);
  lend();
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 5u);
}

TEST_F(Gangs, AreGrantedWholeByEveryMechanismThatAMarketCanRun) {
  for (int i = 0; i < 4; ++i) lend();
  for (const auto& info : mechanism::all()) {
    if (!info.properties.live) continue;
    EXPECT_TRUE(info.properties.gangs) << info.name;
    auto c = w.s.slot_class(w.slot_class());
    c.mechanism = info.name;
    c.params.clear();
    for (const auto& p : info.parameters)
      if (!p.suggested.empty()) c.params[std::string(p.name)] = p.suggested;
    w.run(kBoss, SetClass{c});
    const auto first = submit(3, 3), second = submit(2, 2), third = submit(4, 4);
    w.clear();
    for (const auto job : {first, second, third}) {
      const auto held = w.at(job).held;
      EXPECT_TRUE(held == 0 || held == w.at(job).terms.workers.max) << info.name;
      w.run(user(bob), CancelJob{job, ""});
    }
  }
}

TEST_F(Gangs, StartTogetherAndNobodyIsPaidForWaiting) {
  const auto job = submit(3, 3);
  w.clear();
  const auto leases = w.at(job).leases;
  w.start(leases[0]);
  w.now = w.now + base::minutes(2);
  w.start(leases[1]);
  EXPECT_EQ(state(leases[0]), LeaseState::granted);
  EXPECT_GT(w.at(leases[0]).ready, Time());
  w.now = w.now + base::minutes(2);
  EXPECT_EQ(count<LeaseStarted>(w.start(leases[2])), 3u);
  for (const auto id : leases) EXPECT_EQ(w.at(id).started, w.now);
  const auto began = w.now;
  w.pass(base::minutes(10));
  for (const auto id : leases) {
    w.finish(id);
    EXPECT_EQ(w.at(id).settled_until - began, base::minutes(10));
  }
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
  EXPECT_EQ(w.at(job).spent.micro,
            3 * base::cost(w.at(leases[0]).term.pays, 1, base::minutes(10)).micro);
}

TEST_F(Gangs, AWorkerThatIsReadyTwiceStartsNobody) {
  const auto job = submit(2, 2);
  w.clear();
  const auto leases = w.at(job).leases;
  EXPECT_EQ(count<LeaseReady>(w.start(leases[0])), 1u);
  EXPECT_TRUE(w.start(leases[0]).empty());
  EXPECT_EQ(state(leases[1]), LeaseState::granted);
}

TEST_F(Gangs, WhoIsLateIsToBlameAndWhoWaitedIsNot) {
  const auto job = submit(2, 2);
  w.clear();
  const auto leases = w.at(job).leases;
  w.start(leases[0]);
  const auto waited = w.at(leases[0]).machine, late = w.at(leases[1]).machine;
  const auto before = w.s.machines.at(waited).reliability_ppm;
  w.tick(w.s.settings.setup);
  EXPECT_EQ(state(leases[0]), LeaseState::closed);
  EXPECT_EQ(w.at(leases[0]).outcome, LeaseOutcome::job);
  EXPECT_EQ(w.at(leases[1]).outcome, LeaseOutcome::unstarted);
  EXPECT_EQ(w.s.machines.at(waited).reliability_ppm, before);
  EXPECT_LT(w.s.machines.at(late).reliability_ppm, before);
  EXPECT_EQ(w.at(job).state, JobState::queued);
  w.clear();
  ASSERT_EQ(w.at(job).held, 2);
  for (const auto id : w.at(job).leases) EXPECT_NE(w.at(id).machine, late);
}

TEST_F(Gangs, ALostWorkerSendsTheOthersHomeWithNoticeAndAllBeginAnew) {
  const auto job = submit(3, 3);
  const auto leases = running(job);
  w.pass(base::minutes(3));
  const auto events = w.run(kBoss, ExpireLease{leases[1]});
  EXPECT_EQ(only<GangChanged>(events).phase, GangPhase::regrouping);
  EXPECT_EQ(state(leases[0]), LeaseState::draining);
  EXPECT_EQ(state(leases[2]), LeaseState::draining);
  w.clear();
  EXPECT_EQ(w.at(job).held, 2) << "nobody comes while others leave";
  leave(job);
  EXPECT_EQ(w.at(job).gang.phase, GangPhase::forming);
  w.clear();
  EXPECT_EQ(w.at(job).held, 3);
  EXPECT_EQ(w.at(job).gang.restarts, 1);
  EXPECT_EQ(w.at(job).part(1)->tries, 1);
  for (const auto id : w.at(job).leases) EXPECT_NE(w.at(id).machine, w.at(leases[1]).machine);
  for (const auto id : w.start_all(job)) w.finish(id);
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
}

TEST_F(Gangs, AProgramThatFailsBecauseAnotherWasLostIsNoFailureOfTheJob) {
  const auto job = submit(3, 3);
  const auto leases = running(job);
  w.pass(base::minutes(1));
  w.finish(leases[0], LeaseOutcome::failed);  // Its peer is gone, which nobody else knows yet.
  EXPECT_EQ(w.at(job).state, JobState::running);
  w.finish(leases[2], LeaseOutcome::failed);
  EXPECT_EQ(w.at(job).state, JobState::running);
  w.run(kBoss, ExpireLease{leases[1]});
  EXPECT_EQ(w.at(job).state, JobState::queued);
  lend();
  w.clear();
  EXPECT_EQ(w.at(job).held, 3) << "those who failed with it are asked again";
}

TEST_F(Gangs, AProgramThatFailsByItselfFailsTheJobOnceAllHaveLeft) {
  const auto job = submit(3, 3);
  const auto leases = running(job);
  w.finish(leases[2], LeaseOutcome::failed);
  EXPECT_EQ(w.at(job).state, JobState::running);
  leave(job);
  EXPECT_EQ(w.at(job).state, JobState::failed);
  EXPECT_EQ(w.at(job).reason, "worker 2: exit");
}

TEST_F(Gangs, AFailureIsTriedAgainAsOftenAsTheJobSays) {
  const auto job = submit(2, 2, false, {.failed = true, .max = 1});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(w.at(job).state, JobState::queued);
    const auto leases = running(job);
    w.finish(leases[1], LeaseOutcome::failed);
    leave(job);
  }
  EXPECT_EQ(w.at(job).state, JobState::failed);
}

TEST_F(Gangs, WhenOneHasFinishedAndTheOtherIsLostBothRunAgain) {
  const auto job = submit(2, 2);
  auto leases = running(job);
  w.finish(leases[0]);
  EXPECT_EQ(w.at(job).done, 1);
  w.run(kBoss, ExpireLease{leases[1]});
  w.clear();
  EXPECT_EQ(w.at(job).held, 2);
  EXPECT_EQ(w.at(job).done, 0);
  for (const auto id : w.start_all(job)) w.finish(id);
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
}

TEST_F(Gangs, OneThatIsElasticGoesOnWithoutAWorkerAndTakesAnother) {
  const auto job = submit(2, 4);
  const auto leases = running(job);
  ASSERT_EQ(leases.size(), 4u);
  w.run(kBoss, ExpireLease{leases[2]});
  EXPECT_EQ(state(leases[0]), LeaseState::running);
  EXPECT_EQ(w.at(job).gang.restarts, 0);
  lend();
  w.clear();
  ASSERT_EQ(w.at(job).held, 4);
  const auto joined = w.at(job).leases.back();
  EXPECT_EQ(w.at(joined).part, 2);
  EXPECT_EQ(count<LeaseStarted>(w.start(joined)), 1u) << "it waits for nobody";
  // Without worker 0 there is nobody to meet at.
  w.run(kBoss, ExpireLease{leases[0]});
  EXPECT_EQ(w.at(job).gang.phase, GangPhase::regrouping);
}

TEST_F(Gangs, OneThatIsElasticRegroupsBelowItsMinimum) {
  const auto job = submit(3, 4);
  const auto leases = running(job);
  w.finish(leases[3], LeaseOutcome::released);
  EXPECT_EQ(w.at(job).gang.phase, GangPhase::running);
  w.finish(leases[2], LeaseOutcome::released);
  EXPECT_EQ(w.at(job).gang.phase, GangPhase::regrouping);
}

TEST_F(Gangs, OneThatIsLedEndsWithItsWorkerZero) {
  const auto job = submit(3, 3, true);
  const auto leases = running(job);
  w.finish(leases[0]);
  EXPECT_EQ(w.at(job).gang.phase, GangPhase::ending);
  EXPECT_EQ(state(leases[1]), LeaseState::draining);
  w.finish(leases[1], LeaseOutcome::released);
  EXPECT_EQ(w.at(job).state, JobState::running);
  w.run(kBoss, ExpireLease{leases[2]});
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
  EXPECT_EQ(w.at(job).part(1)->result, "r" + to_string(leases[1]));
}

TEST_F(Gangs, OneWhoseLenderPausesLeavesTogether) {
  const auto job = submit(3, 3);
  const auto leases = running(job);
  const auto offer = w.at(leases[1]).offer;
  w.run(user(w.s.offers.at(offer).owner), PauseOffer{offer, w.now + base::hours(1)});
  for (const auto id : leases) EXPECT_EQ(state(id), LeaseState::draining);
  // Who does not report is closed with its term.
  w.tick(w.s.settings.drain + w.s.settings.silence);
  EXPECT_EQ(w.at(job).state, JobState::queued);
  w.clear();
  EXPECT_EQ(w.at(job).held, 3);
}

TEST_F(Gangs, RenewTheirLeasesTogetherAndGoOn) {
  const auto job = submit(4, 4);
  const auto leases = running(job);
  w.pass(base::hours(2) + base::minutes(5));
  for (const auto id : leases) {
    EXPECT_EQ(state(id), LeaseState::running);
    w.finish(id);
  }
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
}

TEST_F(Gangs, AreRefusedWhereTheyMakeNoSense) {
  SubmitJob c{"gang", "gang", w.slot_class(), wants(2, 2, 1_cr, 10_cr), "work"};
  c.gang = true;
  c.replicate = 2;
  EXPECT_EQ(w.refused(user(bob), c).field, "kind");
  c.replicate = 1;
  c.work.clear();
  EXPECT_EQ(w.refused(user(bob), c).field, "kind");
  c.gang = false;
  c.led = true;
  EXPECT_EQ(w.refused(user(bob), c).field, "kind");
}

}  // namespace
}  // namespace souk::market
