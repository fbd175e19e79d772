#include "server/advice/replan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "market/testing/world.h"
#include "server/advice/profiles.h"
#include "wire/json.h"

namespace souk::server {
namespace {

using namespace base::literals;
using base::minutes;
using base::seconds;
using market::testing::wants;
using ::testing::HasSubstr;

// A training that takes a worker of class c1 ten minutes, as it turns out, and one of class c4 two,
// as was measured. There is one of each, for 1.1 credits an hour and for 1.4: half way from what is
// asked to what the job would pay.
struct ReplanTest : ::testing::Test {
  market::testing::World w;
  base::AccountId lena = w.account("lena"), bob = w.account("bob", 50_cr);
  base::MachineId slow = w.machine(lena), fast = w.machine(lena);
  market::ClassId c1 = w.slot_class("c1"), c4 = w.slot_class("c4");
  market::JobTerms terms = wants(1, 1, 2_cr, 9_cr);
  std::map<market::ClassId, double> pace{{c1, 1 / 600.0}, {c4, 1 / 120.0}};
  bool moves = true;  // Its owner allows it.
  base::JobId job;
  double progress = 0;
  ParsedWorks works;
  Replan replan{[this](base::JobId) { return progress; }, works};

  ReplanTest() {
    w.offer(slow, {.reserve = 0.2_cr}, "c1");
    w.offer(fast, {.reserve = 0.8_cr}, "c4");
  }

  wire::Batch batch() const {
    wire::Batch out;
    auto& train = out.train.emplace();
    train.epochs = 10;
    train.batch = 50;
    train.shards = {{"s1", 6'000}};
    return out;
  }
  void measured_on_c4(base::Duration all_epochs) {
    wire::Profile p{.runs = 1, .bytes = 100};
    p.machines.push_back({.machine = fast,
                          .batch = 50,
                          .units = 120,
                          .steps = 1'200,
                          .spent = {.compute = all_epochs}});
    w.run(market::kSystem, market::LearnProfile{profile_key(batch(), "c4"), wire::to_json(p)});
  }
  void submit() {
    market::SubmitJob command{.name = "job",
                              .kind = "train",
                              .slot_class = c1,
                              .terms = terms,
                              .work = wire::to_json(batch()),
                              .pay = market::Pay::work};
    if (moves) command.also = {c4};
    w.run(market::testing::user(bob), command);
    job = w.s.jobs.before(w.s.jobs.next());
  }
  const market::Job& at() const { return w.at(job); }

  // Workers work, machines report, the market clears and the training is looked at.
  void pass(base::Duration total) {
    for (const auto end = w.now + total; w.now < end;) {
      w.clear("c1");
      w.clear("c4");
      w.start_all(job);
      w.now = w.now + seconds(5);
      if (at().held > 0) progress = std::min(1.0, progress + 5 * pace[at().slot_class] * at().held);
      for (const auto m : {slow, fast}) w.beat(m);
      w.tick();
      replan.on_tick(w.s, w.now, [this](market::Command c) -> base::Result<> {
        w.run(market::kSystem, std::move(c));
        return {};
      });
    }
  }
};

TEST_F(ReplanTest, ATrainingThatWouldBeLateMovesToWhereItIsNot) {
  measured_on_c4(minutes(2));
  terms.deadline = w.now + minutes(5);
  submit();
  pass(seconds(15));
  EXPECT_EQ(at().slot_class, c1);  // Nothing is known of its pace yet.
  pass(minutes(1));
  EXPECT_EQ(at().slot_class, c4);
  ASSERT_EQ(at().moves.size(), 1u);
  EXPECT_THAT(at().moves[0].why, HasSubstr("of the work is left for"));
  EXPECT_EQ(at().held, 1);
  EXPECT_EQ(w.at(at().leases.front()).machine, fast);
  pass(minutes(3));
  EXPECT_GE(progress, 1);  // In time.
  EXPECT_EQ(at().moves.size(), 1u);
}

TEST_F(ReplanTest, ItStaysWhereItsOwnerPutItWhereItIsInTimeAndWhereNothingIsKnown) {
  measured_on_c4(minutes(2));
  moves = false;
  terms.deadline = w.now + minutes(5);
  submit();
  pass(minutes(2));
  EXPECT_EQ(at().slot_class, c1);
  w.run(market::testing::user(bob), market::CancelJob{job, ""});

  moves = true;
  progress = 0;
  measured_on_c4(minutes(7));
  terms.deadline = w.now + minutes(20);
  submit();
  pass(minutes(2));
  EXPECT_EQ(at().slot_class, c1);  // In time here, and hardly cheaper there.
  w.run(market::testing::user(bob), market::CancelJob{job, ""});

  w.run(market::kSystem, market::LearnProfile{profile_key(batch(), "c4"), "{}"});
  progress = 0;
  terms.deadline = w.now + minutes(5);
  submit();
  pass(minutes(2));
  EXPECT_EQ(at().slot_class, c1);
}

TEST_F(ReplanTest, TheRestIsDoneWhereItIsCheaperAlsoWithoutADeadline) {
  measured_on_c4(minutes(2));
  submit();
  pass(minutes(1));
  EXPECT_EQ(at().slot_class, c4);
  EXPECT_EQ(at().planned, 0);  // As many as it may have.
  EXPECT_THAT(at().moves.back().why, HasSubstr("the rest costs"));
  const auto spent = at().spent;
  EXPECT_EQ(w.balance(bob).escrow, 9_cr - spent);
}

TEST_F(ReplanTest, WhatWasSeenInAClassBeatsWhatWasForetold) {
  measured_on_c4(seconds(60));
  pace[c4] = 1 / 900.0;  // In truth slower than c1.
  pace[c1] = 1 / 700.0;
  wire::Profile here{.runs = 1, .bytes = 100};
  here.machines.push_back({.machine = slow,
                           .batch = 50,
                           .units = 120,
                           .steps = 1'200,
                           .spent = {.compute = seconds(700)}});
  w.run(market::kSystem, market::LearnProfile{profile_key(batch(), "c1"), wire::to_json(here)});
  terms.deadline = w.now + base::hours(1);
  submit();
  pass(minutes(1));
  EXPECT_EQ(at().slot_class, c4);
  pass(minutes(1));
  EXPECT_EQ(at().moves.size(), 1u);  // Not yet.
  pass(minutes(2));
  EXPECT_EQ(at().slot_class, c1);  // It was cheaper there.
  pass(minutes(4));
  EXPECT_EQ(at().moves.size(), 2u);  // And it does not believe the forecast again.
}

TEST_F(ReplanTest, WhoFindsNoMachineGoesWhereThereIsOne) {
  w.run(market::testing::user(lena), market::PauseOffer{base::OfferId(1), base::kNever});
  submit();
  pass(seconds(50));
  EXPECT_EQ(at().slot_class, c1);
  pass(seconds(30));
  EXPECT_EQ(at().slot_class, c4);
  EXPECT_EQ(at().moves.back().why, "no worker of class c1 can be had, and 1 of class c4 can");
  EXPECT_EQ(at().held, 1);
}

TEST_F(ReplanTest, WorkersAreAddedWithinAClassAsBefore) {
  w.offer(slow, {.slots = 3, .reserve = 0.2_cr}, "c1");
  moves = false;
  terms = wants(1, 4, 2_cr, 9_cr);
  terms.deadline = w.now + minutes(6);
  submit();
  w.run(market::kSystem, market::ResizeJob{job, 1, "one seemed enough"});
  pass(seconds(10));
  EXPECT_EQ(at().held, 1);
  pass(minutes(1));
  EXPECT_GE(at().held, 2);
  EXPECT_THAT(at().planned_why, HasSubstr("of the work is left"));
}

}  // namespace
}  // namespace souk::server
