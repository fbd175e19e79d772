#include "server/sweep/sweeps.h"

#include <gtest/gtest.h>

#include "market/limits.h"
#include "market/testing/world.h"
#include "wire/json.h"

// What leads sweeps, on a market without files or machines: the test says what trials report.

namespace souk::server {
namespace {

using namespace base::literals;
using base::Credits;
using market::JobState;
using market::testing::user;
using market::testing::wants;
using market::testing::World;

struct Leading : ::testing::Test {
  World w;
  base::AccountId bob = w.account("bob", 100_cr);
  ParsedWorks works;
  std::map<base::JobId, TrialQuestion> asked;
  std::unique_ptr<Sweeps> sweeps = make();
  bool may_start = true;

  std::unique_ptr<Sweeps> make() {
    return std::make_unique<Sweeps>(
        works,
        [this](TrialQuestion q) {
          asked[q.job] = std::move(q);
          return true;
        },
        [this](base::AccountId) -> base::Result<> {
          if (may_start) return {};
          return base::fail(base::Code::exhausted, "too many jobs");
        });
  }

  void run(const market::Actor& who, market::Command command) {
    for (const auto& event : w.run(who, std::move(command))) sweeps->on_applied(w.s, event);
  }

  void tick() {
    w.now = w.now + base::seconds(1);
    sweeps->on_tick(w.s, w.now, [&](const market::Actor& who, market::Command c) -> base::Result<> {
      auto events = execute(w.s, {w.now, who, std::move(c)});
      if (!events) return std::unexpected(events.error());
      EXPECT_EQ(market::broken_invariants(w.s), std::vector<std::string>{});
      for (const auto& event : *events) sweeps->on_applied(w.s, event);
      return {};
    });
  }

  base::JobId sweep(wire::Sweep s, Credits budget = 10_cr) {
    s.of = "batch";
    s.metric = "score";
    wire::Batch work{.run = "true"};
    work.sweep = s;
    run(user(bob), market::SubmitJob{.name = "s",
                                     .kind = "sweep",
                                     .slot_class = w.slot_class(),
                                     .terms = wants(1, 1, 1_cr, budget),
                                     .work = wire::to_json(work),
                                     .most_trials = s.parallel});
    return w.s.jobs.before(w.s.jobs.next());
  }
  [[nodiscard]] static wire::Sweep asha(std::int32_t trials, std::int32_t parallel) {
    return {.parameters = {{"x", {.scale = wire::SweepScale::uniform, .low = 0, .high = 1}}},
            .method = wire::SweepMethod::asha,
            .trials = trials,
            .parallel = parallel,
            .eta = 3};
  }
  [[nodiscard]] wire::SweepStatus view(base::JobId id) const {
    const auto& job = w.s.jobs.at(id);
    return sweep_view(w.s, job, *wire::from_json<wire::Batch>(job.work)->sweep);
  }
  // The trial reports, as if its lease had printed it.
  void report(base::JobId sweep, base::JobId trial, std::vector<TrialReport> reports,
              bool last = false) {
    sweeps->heard({.sweep = sweep, .job = trial, .reports = std::move(reports), .last = last});
  }
  void finish(base::JobId sweep, base::JobId trial, double value) {
    run(market::kSystem, market::ReportResult{trial, "result-" + to_string(trial), true, "done"});
    report(sweep, trial, {{9, value}}, true);
  }
};

TEST_F(Leading, RunsAsManyTrialsAtATimeAsItMayAndSharesTheCredits) {
  const auto id = sweep(asha(5, 2));
  tick();
  ASSERT_EQ(w.at(id).trials.size(), 2u);
  EXPECT_EQ(w.at(w.at(id).trials[0]).terms.budget, 5_cr);
  EXPECT_EQ(w.at(w.at(id).trials[1]).terms.budget, 5_cr);
  EXPECT_EQ(w.at(w.at(id).trials[0]).name, "s #1");
  tick();
  EXPECT_EQ(w.at(id).trials.size(), 2u);
  finish(id, w.at(id).trials[0], 1);
  tick();
  ASSERT_EQ(w.at(id).trials.size(), 2u);
  EXPECT_EQ(view(id).trials.size(), 3u);
  EXPECT_EQ(w.at(w.at(id).trials[1]).terms.budget, 5_cr);  // What came back.
}

TEST_F(Leading, StopsATrialAtARungAndEndsWithTheBest) {
  const auto id = sweep(asha(3, 3));
  tick();
  const auto trials = w.at(id).trials;
  ASSERT_EQ(trials.size(), 3u);
  report(id, trials[0], {{1, 0.5}});
  tick();
  report(id, trials[1], {{1, 0.4}});
  tick();
  EXPECT_EQ(w.at(trials[1]).state, JobState::cancelled);
  EXPECT_EQ(w.at(trials[1]).reason,
            "stopped early: score 0.4 after 1 epochs is not among the best of 3");
  report(id, trials[1], {}, true);
  report(id, trials[2], {{1, 0.9}});
  tick();
  finish(id, trials[0], 0.6);
  finish(id, trials[2], 0.95);
  tick();
  EXPECT_EQ(w.at(id).state, JobState::succeeded);
  EXPECT_EQ(w.at(id).reason, "trial 3 (j4) is best: score 0.95");
  EXPECT_EQ(w.at(id).result, "result-j4");
  const auto shown = view(id);
  EXPECT_EQ(shown.best, 3);
  EXPECT_EQ(shown.trials[1].state, wire::TrialState::stopped);
  EXPECT_EQ(w.s.ledger.balance(bob).available, 100_cr);
}

TEST_F(Leading, AfterARestartNothingIsBegunTwiceAndRungsAreRemembered) {
  const auto id = sweep(asha(4, 2));
  tick();
  const auto trials = w.at(id).trials;
  report(id, trials[0], {{1, 0.5}});
  tick();
  sweeps = make();
  sweeps->recall(w.s);
  tick();
  EXPECT_EQ(w.at(id).trials, trials);
  report(id, trials[1], {{1, 0.4}});
  tick();
  EXPECT_EQ(w.at(trials[1]).state, JobState::cancelled);  // Worse than what was noted before.
}

TEST_F(Leading, AStopThatACrashCutShortIsMadeGood) {
  const auto id = sweep(asha(4, 2));
  tick();
  const auto trial = w.at(id).trials[0];
  auto note = *wire::from_json<wire::TrialNote>(w.at(trial).note);
  note.rungs = {{1, 0.1, false}};
  note.stopped = true;
  run(market::kSystem, market::NoteTrial{trial, wire::to_json(note)});
  sweeps = make();
  sweeps->recall(w.s);
  tick();
  EXPECT_EQ(w.at(trial).state, JobState::cancelled);
}

TEST_F(Leading, ThreeFailuresWithoutASuccessEndIt) {
  const auto id = sweep(asha(20, 1));
  for (int i = 0; i < 3; ++i) {
    tick();
    const auto trial = w.at(id).trials.at(0);
    run(market::kSystem, market::ReportResult{trial, "", true, "worker 0: exit status 3"});
    report(id, trial, {}, true);
  }
  tick();
  EXPECT_EQ(w.at(id).state, JobState::failed);
  EXPECT_EQ(view(id).trials.size(), 3u);
}

// A lender or a program may write 4,000 bytes, which is all that the end of a sweep may have.
TEST_F(Leading, EndsHoweverLongTheReasonOfAFailureIs) {
  const std::string said = "worker 0: " + std::string(1'995, '!') + std::string("\xC3\xA9");
  const auto fill = said + std::string(market::kTextMax - said.size(), '?');
  const auto id = sweep(asha(20, 1));
  for (int i = 0; i < 3; ++i) {
    tick();
    const auto trial = w.at(id).trials.at(0);
    run(market::kSystem, market::ReportResult{trial, "", true, fill});
    report(id, trial, {}, true);
  }
  tick();
  EXPECT_EQ(w.at(id).state, JobState::failed);
  EXPECT_EQ(w.at(id).reason.size(), market::kTextMax);
  EXPECT_EQ(w.s.ledger.balance(bob).available, 100_cr);
}

TEST_F(Leading, ATrialThatCannotBeNotedEndsIt) {
  auto s = asha(2, 1);
  for (int i = 0; i < 16; ++i)
    s.parameters["p" + std::to_string(i)].values = {"\"" + std::string(300, 'v') + "\""};
  const auto id = sweep(s);
  tick();
  EXPECT_EQ(w.at(id).state, JobState::failed);
  EXPECT_EQ(w.at(id).reason.substr(0, 25), "trial 1 cannot be run: th");
}

TEST_F(Leading, NoneIsBegunWhileTheLastFailureIsNotHeard) {
  const auto id = sweep(asha(20, 1));
  std::vector<base::JobId> trials;
  for (int i = 0; i < 3; ++i) {
    tick();
    trials.push_back(w.at(id).trials.at(0));
    run(market::kSystem, market::ReportResult{trials.back(), "", true, "worker 0: exit status 3"});
  }
  for (int i = 0; i < 3; ++i) tick();
  EXPECT_FALSE(market::is_final(w.at(id).state));
  EXPECT_EQ(view(id).trials.size(), 3u);
  report(id, trials.back(), {{1, 0.5}}, true);  // It came to something after all.
  tick();
  EXPECT_EQ(view(id).trials.size(), 4u);
}

TEST_F(Leading, WaitsWhereItsOwnerHasTooManyJobs) {
  may_start = false;
  const auto id = sweep(asha(4, 2));
  tick();
  EXPECT_TRUE(w.at(id).trials.empty());
  may_start = true;
  for (int i = 0; i < 12; ++i) tick();
  EXPECT_EQ(w.at(id).trials.size(), 2u);
}

TEST_F(Leading, PausesWhenItsBudgetIsUsedUpAndGoesOnWithMore) {
  auto s = asha(4, 1);
  const auto id = sweep(s, 1_cr);
  const auto machine = w.machine(w.account("lena"));
  w.offer(machine, {.reserve = 1_cr});
  tick();
  const auto trial = w.at(id).trials.at(0);
  w.clear();
  w.start(w.at(trial).leases.at(0));
  for (int i = 0; i < 14 && !w.at(trial).leases.empty(); ++i) {  // Until all of it is spent.
    w.now = w.now + base::minutes(5);
    w.beat(machine);
    w.tick();
  }
  EXPECT_TRUE(w.at(trial).leases.empty());
  w.clear();
  ASSERT_EQ(w.at(trial).state, JobState::paused);
  for (int i = 0; i < 2; ++i) tick();
  EXPECT_EQ(w.at(id).state, JobState::paused);
  EXPECT_EQ(w.at(id).reason, market::kBudgetUsedUp);
  EXPECT_LE(w.at(id).spent, 1_cr);
  auto terms = w.at(id).terms;
  terms.budget = 5_cr;
  run(user(bob), market::ChangeJob{id, terms});
  run(user(bob), market::ResumeJob{id});
  w.clear();
  for (int i = 0; i < 2; ++i) tick();
  EXPECT_GT(w.at(trial).terms.budget, 1_cr);
  EXPECT_NE(w.at(trial).state, JobState::paused);
}

}  // namespace
}  // namespace souk::server
