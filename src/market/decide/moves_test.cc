#include <gtest/gtest.h>

#include "base/random.h"
#include "market/limits.h"
#include "market/testing/world.h"

// A training that may be in several classes, and moves between them.

namespace souk::market::testing {
namespace {

using base::Code;
using base::minutes;

// A slow class that costs 0.5 an hour and a fast one that costs 1; a training in the slow one.
struct TwoClasses : World {
  AccountId lena = account("lena"), bob = account("bob", 10_cr);
  MachineId slow = machine(lena), fast = machine(lena);
  ClassId c1 = slot_class("c1"), c4 = slot_class("c4");
  JobId job;

  TwoClasses() {
    offer(slow, {.slots = 2, .reserve = 0.5_cr}, "c1");
    offer(fast, {.slots = 2, .reserve = 1_cr}, "c4");
    run(user(bob), training());
    job = s.jobs.before(s.jobs.next());
    clear("c1");
    start_all(job);
  }
  SubmitJob training(JobTerms terms = wants(1, 2, 1_cr, 5_cr)) const {
    return {.name = "job",
            .kind = "train",
            .slot_class = c1,
            .terms = std::move(terms),
            .work = "fit",
            .also = {c4},
            .pay = Pay::work};
  }
  Events move(ClassId to, std::int32_t workers = 0) {
    return run(kSystem, MoveJob{job, to, workers, "it would be late"});
  }
  void accept_all(base::Duration worked) {
    for (const auto id : at(job).leases) run(kSystem, AcceptWork{id, at(id).epoch, worked});
  }
  std::int64_t wanted(ClassId c) const { return s.index.classes[c.value - 1].wanted; }
};

TEST(Move, WorkersAreLetGoAtOncePaidForWhatWasAcceptedAndTheJobBidsInItsNewClass) {
  TwoClasses w;
  const auto leases = w.at(w.job).leases;
  ASSERT_EQ(leases.size(), 2u);
  w.pass(minutes(6));
  w.accept_all(minutes(3));
  const auto events = w.move(w.c4, 1);
  EXPECT_EQ(count<LeaseClosed>(events), 2u);
  for (const auto id : leases) {
    EXPECT_EQ(w.at(id).outcome, LeaseOutcome::job);
    EXPECT_EQ(w.at(id).detail, "the job moves to class c4");
    EXPECT_EQ(w.at(id).paid, base::cost(w.at(id).term.pays, 1, minutes(3)));  // Not for six.
  }
  const auto& job = w.at(w.job);
  EXPECT_EQ(job.state, JobState::queued);
  EXPECT_EQ(job.slot_class, w.c4);
  EXPECT_EQ(job.also, std::vector{w.c1});  // It may come back.
  EXPECT_EQ(job.planned, 1);
  EXPECT_EQ(job.planned_why, "it would be late");
  EXPECT_EQ(job.moves, (std::vector<Move>{{w.now, w.c1, w.c4, "it would be late"}}));
  EXPECT_EQ(w.balance(w.bob).escrow, 5_cr - job.spent);
  EXPECT_EQ(count<LeaseGranted>(w.clear("c1")), 0u);
  EXPECT_EQ(count<LeaseGranted>(w.clear("c4")), 1u);
  w.start_all(w.job);
  EXPECT_EQ(w.at(w.job).state, JobState::running);
  EXPECT_EQ(w.at(w.at(w.job).leases.front()).machine, w.fast);
}

TEST(Move, WhatIsWantedIsCountedInTheClassTheJobIsIn) {
  TwoClasses w;
  const auto slots_at = [&](ClassId c) { return w.s.index.wanted_at(c); };
  EXPECT_EQ(w.wanted(w.c1), 0);
  EXPECT_TRUE(slots_at(w.c1).empty());
  EXPECT_TRUE(slots_at(w.c4).empty());
  w.move(w.c4);
  EXPECT_EQ(w.wanted(w.c1), 0);
  EXPECT_EQ(w.wanted(w.c4), 2);
  w.move(w.c1, 1);
  EXPECT_EQ(w.wanted(w.c1), 1);
  EXPECT_EQ(w.wanted(w.c4), 0);
  auto terms = w.at(w.job).terms;
  terms.priority = 3;
  w.run(user(w.bob), ChangeJob{w.job, terms});
  EXPECT_EQ(w.wanted(w.c1), 1);
  const auto classes = w.s.index.classes;
  const std::map<ClassId, WantedAt> before{{w.c1, slots_at(w.c1)}, {w.c4, slots_at(w.c4)}};
  EXPECT_EQ(before.at(w.c1).size(), 1u);
  w.s.index.rebuild(w.s);
  for (const auto c : {w.c1, w.c4}) {
    const auto &kept = classes[c.value - 1], &made = w.s.index.classes[c.value - 1];
    EXPECT_EQ(kept.wanted, made.wanted);
    EXPECT_EQ(before.at(c), slots_at(c));
    EXPECT_EQ(kept.wanting, made.wanting);
    EXPECT_EQ(kept.leased, made.leased);
  }
}

TEST(Move, OnlyTheMarketMovesJobsAndOnlyWhereTheirOwnersLetThem) {
  TwoClasses w;
  const auto refused = [&](ClassId to, std::int32_t workers, Actor by = kSystem) {
    return w.refused(by, MoveJob{w.job, to, workers, ""});
  };
  EXPECT_EQ(refused(w.c4, 0, user(w.bob)).code, Code::forbidden);
  EXPECT_EQ(refused(w.slot_class("c8"), 0).field, "class");
  EXPECT_EQ(refused(w.c1, 0).field, "class");  // It is there.
  EXPECT_EQ(refused(ClassId(99), 0).code, Code::not_found);
  EXPECT_EQ(refused(w.c4, 3).field, "workers");
  EXPECT_EQ(refused(w.c4, -1).field, "workers");
  EXPECT_EQ(w.refused(kSystem, MoveJob{JobId(9), w.c4, 0, ""}).code, Code::not_found);
  auto retired = w.s.slot_class(w.c4);
  retired.retired = true;
  w.run(kBoss, SetClass{retired});
  EXPECT_EQ(refused(w.c4, 0).field, "class");
  w.run(user(w.bob), CancelJob{w.job, ""});
  EXPECT_EQ(refused(w.c4, 0).code, Code::conflict);
}

TEST(Move, ClassesAreKnownInUseDifferentAndForJobsPaidByWorkOnly) {
  TwoClasses w;
  const auto refused = [&](std::vector<ClassId> also, Pay pay = Pay::work) {
    auto c = w.training();
    c.also = std::move(also);
    c.pay = pay;
    return w.refused(user(w.bob), c);
  };
  EXPECT_EQ(refused({ClassId(99)}).code, Code::not_found);
  EXPECT_EQ(refused({w.c1}).message, "class 'c1' is named twice");
  EXPECT_EQ(refused({w.c4, w.c4}).message, "class 'c4' is named twice");
  EXPECT_EQ(refused({w.c4}, Pay::time).field, "also_classes");
  auto retired = w.s.slot_class(w.c4);
  retired.retired = true;
  w.run(kBoss, SetClass{retired});
  EXPECT_EQ(refused({w.c4}).message, "class 'c4' is retired");
}

TEST(Move, APausedJobMovesAndStaysPaused) {
  TwoClasses w;
  w.run(user(w.bob), PauseJob{w.job});
  w.move(w.c4);
  EXPECT_EQ(w.at(w.job).state, JobState::paused);
  EXPECT_EQ(w.wanted(w.c4), 0);
  w.run(user(w.bob), ResumeJob{w.job});
  EXPECT_EQ(w.wanted(w.c4), 2);
}

TEST(Move, ABudgetHoldsHoweverOftenAJobMoves) {
  base::Random random(3);
  for (int i = 0; i < 20; ++i) {
    TwoClasses w;
    Settings v;
    v.term = base::seconds(random.between(60, 400));
    w.settings(v);
    w.run(user(w.bob), CancelJob{w.job, ""});
    const auto had = w.balance(w.bob).available;
    const auto budget = Credits(random.between(20'000, 200'000));
    w.run(user(w.bob), w.training(wants(1, 2, 1_cr, budget)));
    w.job = w.s.jobs.before(w.s.jobs.next());
    for (int n = 0; n < 15; ++n) {
      w.clear("c1");
      w.clear("c4");
      w.start_all(w.job);
      w.pass(minutes(1), base::seconds(random.between(7, 59)));
      w.accept_all(minutes(1));
      if (random.chance(2)) w.move(w.at(w.job).also.front(), random.between(0, 2));
    }
    EXPECT_GT(w.at(w.job).spent, Credits());
    EXPECT_LE(w.at(w.job).spent, budget);
    w.run(user(w.bob), CancelJob{w.job, ""});
    EXPECT_LE(w.at(w.job).spent, budget);
    EXPECT_EQ(w.balance(w.bob), (ledger::Balance{.available = had - w.at(w.job).spent}));
  }
}

}  // namespace
}  // namespace souk::market::testing
