#include <gtest/gtest.h>

#include "market/testing/world.h"

namespace souk::market::testing {
namespace {

using base::minutes;

// Four lenders with a slot each, and a borrower whose results are compared.
struct Compared : World {
  AccountId bob = account("bob", 10_cr);
  std::vector<AccountId> lenders;

  explicit Compared(int count = 4) {
    for (int i = 0; i < count; ++i) {
      lenders.push_back(account("lender" + std::to_string(i)));
      offer(machine(lenders.back()), {.slots = 1, .reserve = 0.1_cr});
    }
  }
  JobId work(std::int32_t workers = 1) {
    SubmitJob command{"job", "batch", slot_class(), wants(1, workers, 1_cr, 5_cr), "sort"};
    command.replicate = 2;
    run(user(bob), command);
    return s.jobs.before(s.jobs.next());
  }
  // The job's first open lease gets its result after ten minutes.
  LeaseId answer(JobId job, const std::string& result) {
    clear();
    EXPECT_FALSE(at(job).leases.empty());
    const auto lease = at(job).leases.front();
    start(lease);
    now = now + minutes(10);
    beat(at(lease).machine);
    run(agent(at(lease).machine),
        FinishLease{lease, at(lease).epoch, LeaseOutcome::completed, "exit", result});
    return lease;
  }
  std::int32_t reliability(LeaseId lease) const {
    return s.machines.at(at(lease).machine).reliability_ppm;
  }
};

TEST(Replicate, APartIsDoneAndPaidWhenTwoOwnersAgree) {
  Compared w;
  const auto job = w.work();
  const auto first = w.answer(job, "right");
  EXPECT_EQ(w.at(job).state, JobState::queued);
  EXPECT_EQ(w.at(first).paid, Credits()) << "its pay waits";
  EXPECT_TRUE(w.at(job).part(0)->result.empty()) << "and so does the result";
  const auto second = w.answer(job, "right");
  EXPECT_NE(w.at(first).lender, w.at(second).lender);
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
  EXPECT_EQ(w.at(job).part(0)->result, "right");
  EXPECT_GT(w.at(first).paid, Credits());
  EXPECT_EQ(w.at(first).paid, w.at(second).paid);
}

TEST(Replicate, TheOddOneOutIsNotPaidAndAThirdDecides) {
  Compared w;
  const auto job = w.work();
  const auto liar = w.answer(job, "made up");
  const auto before = w.reliability(liar);
  const auto honest = w.answer(job, "right");
  EXPECT_EQ(w.at(honest).paid, Credits());
  const auto third = w.answer(job, "right");
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
  EXPECT_EQ(w.at(job).part(0)->result, "right");
  EXPECT_EQ(w.at(liar).paid, Credits());
  EXPECT_LT(w.reliability(liar), before);
  EXPECT_GT(w.at(honest).paid, Credits());
  EXPECT_GT(w.at(third).paid, Credits());
  EXPECT_EQ(w.at(job).spent, w.at(honest).paid + w.at(third).paid);
}

TEST(Replicate, ThreeDifferentResultsAreTheProgramsFault) {
  Compared w;
  const auto job = w.work();
  for (const auto* result : {"a", "b", "c"}) {
    const auto lease = w.answer(job, result);
    EXPECT_GE(w.reliability(lease), 900'000);
  }
  EXPECT_EQ(w.at(job).state, JobState::failed);
  w.s.leases.for_each([&](const Lease& l) { EXPECT_GT(l.paid, Credits()); });
}

TEST(Replicate, NobodyConfirmsItself) {
  Compared w(1);
  const auto job = w.work();
  w.answer(job, "right");
  w.clear();
  EXPECT_TRUE(w.at(job).leases.empty());
  EXPECT_EQ(w.at(job).state, JobState::queued);
}

TEST(Replicate, TwoOwnersConfirmEachOthersParts) {
  Compared w(2);
  const auto job = w.work(2);
  for (int i = 0; i < 4; ++i) {
    w.clear();
    for (const auto lease : std::vector(w.at(job).leases)) {
      w.start(lease);
      const auto result = "r" + std::to_string(w.at(lease).part);
      w.run(w.agent(w.at(lease).machine),
            FinishLease{lease, w.at(lease).epoch, LeaseOutcome::completed, "exit", result});
    }
  }
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
  EXPECT_EQ(w.at(job).part(1)->result, "r1");
}

TEST(Replicate, WhoeverCancelsPaysForTheAnswerThatWaits) {
  Compared w;
  const auto job = w.work();
  const auto lease = w.answer(job, "right");
  w.run(user(w.bob), CancelJob{job, "enough"});
  EXPECT_GT(w.at(lease).paid, Credits());
}

TEST(Replicate, WhatWaitsCannotBeSpentOnOthers) {
  Compared w;
  const auto job = w.work();
  const auto before = w.s.free_budget(w.at(job));
  w.answer(job, "right");
  EXPECT_LT(w.s.free_budget(w.at(job)), before);
}

}  // namespace
}  // namespace souk::market::testing
