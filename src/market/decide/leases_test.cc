#include <gtest/gtest.h>

#include "market/liveness.h"
#include "market/testing/world.h"

namespace souk::market::testing {
namespace {

using base::Code;
using base::hours;
using base::minutes;
using base::seconds;

// A lender with one machine of eight slots, and a borrower with ten credits.
struct Pair : World {
  AccountId lena = account("lena"), bob = account("bob", 10_cr);
  MachineId m = machine(lena);

  // A job of `slots` workers running on a fresh offer at `price`.
  LeaseId running(Credits price, std::int32_t slots = 1, Credits budget = 5_cr,
                  OfferTerms terms = {}) {
    terms.slots = slots;
    terms.reserve = price;
    offer(m, terms);
    const auto j = job(bob, wants(slots, slots, price, budget));
    clear();
    EXPECT_EQ(at(j).leases.size(), 1u) << to_string(price);
    return start_all(j).front();
  }
};

TEST(Lease, AJobsWholeLifeCostsExactlyTheTimeItRan) {
  Pair w;
  w.offer(w.m, {.slots = 2, .reserve = 0.1_cr});
  const auto job = w.job(w.bob, wants(1, 2, 0.3_cr, 5_cr));
  EXPECT_EQ(w.balance(w.bob), (ledger::Balance{.available = 5_cr, .escrow = 5_cr}));
  EXPECT_EQ(w.at(job).state, JobState::queued);
  const auto round = only<RoundCleared>(w.clear());
  EXPECT_EQ(round.price, 0.2_cr);  // Half way between the two.
  EXPECT_EQ(round.traded, 2);
  const auto lease = w.at(job).leases.front();
  EXPECT_EQ(w.at(lease).slots, 2);
  EXPECT_EQ(w.at(job).state, JobState::running);
  w.pass(minutes(3));  // Fetching data is not billed.
  EXPECT_EQ(w.balance(w.lena).available, Credits());
  w.start(lease);
  w.pass(minutes(30));
  EXPECT_EQ(w.balance(w.lena).available, 0.2_cr);
  w.finish(lease);
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
  EXPECT_EQ(w.at(job).spent, 0.2_cr);
  EXPECT_EQ(w.balance(w.bob), (ledger::Balance{.available = 9.8_cr}));
  EXPECT_EQ(w.balance(w.lena), (ledger::Balance{.available = 0.2_cr}));
  EXPECT_EQ(w.s.ledger.hold(hold_of(job)), nullptr);
  EXPECT_EQ(w.s.prices[0].median_run_time(), minutes(30));
  // The statement adds up, with one line for all payments of the lease.
  Credits sum;
  for (const auto& line : w.s.statements[w.bob.value - 1])
    if (line.kind != LineKind::spend) sum += line.amount;  // Spent from escrow, not the purse.
  EXPECT_EQ(sum, 9.8_cr);
  EXPECT_EQ(w.s.statements[w.lena.value - 1].size(), 1u);
}

TEST(Lease, WhatHasAccruedIsWhatTheNextSettlementTakes) {
  Pair w;
  const auto lease = w.running(0.3_cr);
  const auto job = w.at(lease).job;
  EXPECT_EQ(accrued(w.s, w.at(job), w.now), Credits());
  w.pass(minutes(7));
  for (int i = 0; i < 5; ++i) {
    w.now = w.now + seconds(17);
    const auto before = w.at(job).spent, owed = accrued(w.s, w.at(job), w.now);
    EXPECT_GT(owed, Credits());
    w.pass(minutes(1));
    EXPECT_GE(w.at(job).spent, before + owed);
  }
  w.now = w.now + seconds(11);
  const auto all = w.at(job).spent + accrued(w.s, w.at(job), w.now);
  w.finish(lease);
  EXPECT_EQ(w.at(job).spent, all);
  EXPECT_EQ(accrued(w.s, w.at(job), w.now), Credits());
}

TEST(Lease, IrregularHeartbeatsAreBilledToTheMicroCredit) {
  for (const std::int64_t price : {333'333, 1, 999'999, 7}) {
    for (const std::int32_t fee : {0, 12'345, 500'000}) {
      Pair w;
      Settings v;
      v.fee_ppm = fee;
      v.settle_every = seconds(1);
      w.settings(v);
      const auto lease = w.running(Credits(price), 3);
      const auto began = w.now;
      for (std::int64_t i = 1; w.now - began < minutes(50); ++i) {
        w.now = w.now + Duration(1'000'003 + i * i * 977'777 % 61'000'000);
        w.beat(w.m);
        const auto owed = base::cost(Credits(price), 3, w.at(lease).settled_until - began);
        ASSERT_EQ(w.at(lease).paid, owed);
        ASSERT_EQ(w.at(lease).earned, owed - base::share(owed, fee));
      }
      w.now = w.now + Duration(123'457);
      w.finish(lease);
      const auto owed = base::cost(Credits(price), 3, w.now - began);
      EXPECT_EQ(w.balance(w.bob).available, 10_cr - owed);
      EXPECT_EQ(w.balance(w.lena).available, owed - base::share(owed, fee));
      EXPECT_EQ(w.balance(ledger::kPlatform).available, base::share(owed, fee));
    }
  }
}

TEST(Lease, AFeeRaisedInsideATermDoesNotTouchWhatWasAgreed) {
  Pair w;
  const auto lease = w.running(1_cr);
  w.pass(minutes(30));
  Settings v;
  v.fee_ppm = 500'000;
  w.settings(v);
  w.pass(minutes(30));
  EXPECT_EQ(w.balance(w.lena).available, 1_cr);
  w.pass(minutes(30));  // The second term was agreed under the new fee.
  EXPECT_EQ(w.balance(w.lena).available, 1.25_cr);
  EXPECT_EQ(w.balance(ledger::kPlatform).available, 0.25_cr);
  EXPECT_EQ(w.at(lease).paid, 1.5_cr);
}

TEST(Lease, ARepeatedReportIsPaidOnce) {
  Pair w;
  const auto lease = w.running(1_cr);
  const auto epoch = w.at(lease).epoch;
  w.now = w.now + minutes(6);
  std::size_t settled = 0;
  for (int i = 0; i < 1000; ++i)
    settled += count<LeaseSettled>(
        w.run(w.agent(w.m), Heartbeat{w.m, {{lease, epoch}, {lease, epoch}, {lease, epoch}}}));
  EXPECT_EQ(settled, 1u);
  EXPECT_EQ(w.balance(w.lena).available, 0.1_cr);
  for (int i = 0; i < 1000; ++i) w.start(lease);  // Late starts of a running lease change nothing.
  w.now = w.now + minutes(6);
  w.finish(lease);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(w.refused(w.agent(w.m), FinishLease{lease, epoch, LeaseOutcome::completed, ""}).code,
              Code::conflict);
  EXPECT_EQ(w.balance(w.lena).available, 0.2_cr);
  EXPECT_EQ(w.balance(w.bob).available, 9.8_cr);
}

TEST(Lease, AfterALossOnlyTheNewMachineIsPaid) {
  Pair w;
  const auto lost = w.running(1_cr);
  const auto job = w.at(lost).job;
  w.pass(minutes(6));
  const auto carla = w.account("carla");
  const auto second = w.machine(carla);
  w.offer(second, {.reserve = 1_cr});
  w.now = w.now + minutes(5);  // Silent all the while.
  w.run(kSystem, ExpireLease{lost});
  EXPECT_EQ(w.at(job).state, JobState::queued);
  EXPECT_EQ(w.balance(w.lena).available, 0.1_cr);  // Nothing for the silence.
  w.clear();
  const auto fresh = w.start_all(job).front();
  EXPECT_EQ(w.at(fresh).machine, second);
  // The first machine comes back with its result and the old epoch.
  EXPECT_EQ(w.refused(w.agent(w.m), FinishLease{lost, 1, LeaseOutcome::completed, ""}).code,
            Code::conflict);
  EXPECT_EQ(w.refused(w.agent(w.m), FinishLease{fresh, 1, LeaseOutcome::completed, ""}).code,
            Code::forbidden);
  EXPECT_EQ(w.refused(w.agent(second), FinishLease{fresh, 1, LeaseOutcome::completed, ""}).field,
            "epoch");
  EXPECT_EQ(count<LeaseSettled>(w.run(w.agent(w.m), Heartbeat{w.m, {{lost, 1}, {fresh, 2}}})), 0u);
  w.pass(minutes(12));
  w.finish(fresh);
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
  EXPECT_EQ(w.balance(w.lena).available, 0.1_cr);
  EXPECT_EQ(w.balance(carla).available, 0.2_cr);
  EXPECT_EQ(w.balance(w.bob).available, 9.7_cr);
}

TEST(Lease, SilenceIsNoticedAfterTheAllowedTimeAndNotBefore) {
  Pair w;
  const auto lease = w.running(1_cr);
  Liveness heard;
  heard.reset(w.s, w.now);
  EXPECT_TRUE(heard.silent(w.s, w.now + seconds(45)).empty());
  EXPECT_EQ(heard.silent(w.s, w.now + seconds(46)), std::vector{lease});
  heard.heard(lease, w.now + seconds(40));
  EXPECT_TRUE(heard.silent(w.s, w.now + seconds(85)).empty());
  EXPECT_EQ(heard.last(lease), w.now + seconds(40));
  for (const auto& event : w.run(kSystem, ExpireLease{lease})) heard.observe(event, w.now);
  EXPECT_TRUE(heard.silent(w.s, w.now + hours(9)).empty());
  EXPECT_TRUE(w.run(kSystem, ExpireLease{lease}).empty());  // Twice is once.
  EXPECT_EQ(w.refused(user(w.bob), ExpireLease{lease}).code, Code::forbidden);
}

TEST(Lease, AMachineThatBreaksLeasesIsTrustedLessAndEarnsItBack) {
  Pair w;
  const auto job = w.at(w.running(0.1_cr)).job;
  const auto& machine = w.s.machines.at(w.m);
  const std::pair<int, Duration> steps[] = {{720'000, minutes(5)}, {576'000, minutes(10)}};
  for (const auto& [reliability, away] : steps) {
    w.run(kSystem, ExpireLease{w.at(job).leases.front()});
    EXPECT_EQ(machine.reliability_ppm, reliability);
    EXPECT_FALSE(machine.online);
    EXPECT_EQ(w.at(job).avoided.front().until, w.now + away);  // Twice as long each time.
    w.now = w.now + away;
    EXPECT_EQ(count<LeaseGranted>(w.clear()), 0u) << "nobody has heard of it";
    EXPECT_EQ(count<MachineOnline>(w.beat(w.m)), 1u);
    w.now = w.now - Duration(1);  // The market's clock does not run backwards with ours.
    w.clear();
    ASSERT_EQ(w.at(job).held, 1);
    w.now = w.s.now;
    w.start_all(job);
  }
  w.finish(w.at(job).leases.front());
  EXPECT_EQ(machine.reliability_ppm, 576'000 + (1'000'000 - 576'000) / 5);
}

TEST(Lease, ALeaseThatNeverStartsIsTakenBackUnbilled) {
  Pair w;
  w.offer(w.m);
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  w.clear();
  const auto lease = w.at(job).leases.front();
  EXPECT_EQ(w.refused(w.agent(w.m), FinishLease{lease, 1, LeaseOutcome::completed, ""}).code,
            Code::conflict);
  EXPECT_EQ(w.refused(w.agent(w.m), FinishLease{lease, 1, LeaseOutcome::term, ""}).code,
            Code::invalid);
  EXPECT_TRUE(w.tick(minutes(10) - seconds(1)).empty());
  EXPECT_EQ(only<LeaseClosed>(w.tick(seconds(1))).outcome, LeaseOutcome::unstarted);
  EXPECT_EQ(w.at(job).state, JobState::queued);
  EXPECT_EQ(w.at(job).spent, Credits());
}

TEST(Machine, ThatFellSilentIsOffSaleUntilItIsHeardAndLosesNothingByIt) {
  Pair w;
  w.offer(w.m);
  const auto& machine = w.s.machines.at(w.m);
  const auto before = machine.reliability_ppm;
  EXPECT_EQ(count<MachineOffline>(w.run(kSystem, Tick{{}, {w.m}})), 1u);
  EXPECT_FALSE(machine.online);
  EXPECT_EQ(machine.reliability_ppm, before);
  EXPECT_TRUE(w.run(kSystem, Tick{{}, {w.m}}).empty()) << "once";
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 0u);

  EXPECT_EQ(count<MachineOnline>(w.beat(w.m)), 1u);
  w.clear();
  ASSERT_EQ(w.at(job).held, 1);
  EXPECT_TRUE(w.run(kSystem, Tick{{}, {w.m}}).empty()) << "its lease says more (ExpireLease)";
}

TEST(Lease, OneWhoseFilesAreStillComingIsNotTakenBackBeforeItsTermEnds) {
  Pair w;
  w.offer(w.m);
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  w.clear();
  const auto lease = w.at(job).leases.front();
  w.now = w.now + minutes(20);
  EXPECT_TRUE(w.run(kSystem, Tick{{lease}}).empty());
  EXPECT_EQ(w.at(lease).state, LeaseState::granted);
  w.now = w.at(lease).term.until;
  EXPECT_EQ(only<LeaseClosed>(w.run(kSystem, Tick{{lease}})).outcome, LeaseOutcome::unstarted);
}

TEST(Lease, ProgressIsWhatWasFetchedWithinTheSetUpLimit) {
  Pair w;
  w.offer(w.m);
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  w.clear();
  const auto lease = w.at(job).leases.front();
  Liveness liveness;
  liveness.observe(LeaseGranted{w.at(lease)}, w.now);
  EXPECT_TRUE(liveness.fetching(w.s, w.now).empty()) << "nothing was fetched yet";
  liveness.fetched(lease, w.now);
  liveness.heard(lease, w.now + minutes(1));
  EXPECT_EQ(liveness.fetching(w.s, w.now + minutes(9)), std::vector{lease});
  EXPECT_TRUE(liveness.fetching(w.s, w.now + minutes(10)).empty());
}

TEST(Lease, AStartReportedAfterTheTermIsRefused) {
  Pair w;
  w.offer(w.m);
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  w.clear();
  const auto lease = w.at(job).leases.front();
  w.now = w.at(lease).term.until;
  EXPECT_EQ(w.refused(w.agent(w.m), StartLease{lease, 1}).code, Code::conflict);
}

// Others pay `price` each other: four accounts, so that there is a going rate.
void trade_at(World& w, Credits price) {
  static int number = 0;
  const auto name = [&] { return "other" + std::to_string(number++); };
  for (int i = 0; i < 2; ++i) {
    const auto lender = w.account(name());
    for (int k = 0; k < 2; ++k) w.offer(w.machine(lender), {.reserve = price});
  }
  for (const int workers : {3, 1}) {  // The first of them of both lenders.
    const auto job = w.job(w.account(name(), 100_cr), wants(workers, workers, price, 25_cr));
    w.clear();
    w.start_all(job);
  }
  w.pass(minutes(2));
}

TEST(Lease, ThePriceChangesOnlyWhenATermEndsAndByAStep) {
  Pair w;
  w.offer(w.m, {.reserve = 0.1_cr});
  const auto job = w.job(w.bob, wants(1, 1, 0.3_cr, 5_cr));
  w.clear();
  const auto lease = w.start_all(job).front();
  w.pass(minutes(8));
  trade_at(w, 0.3_cr);
  EXPECT_EQ(w.s.prices[0].rate(), 0.3_cr);
  w.pass(minutes(49));
  EXPECT_EQ(w.at(lease).term.pays, 0.2_cr);  // Agreed, but not begun.
  EXPECT_EQ(w.at(lease).next->pays, 0.22_cr);
  w.pass(minutes(31));
  EXPECT_EQ(w.at(lease).term.pays, 0.22_cr);
  EXPECT_EQ(w.at(lease).paid, 0.31_cr);  // An hour at 0.2 and half an hour at 0.22.
}

TEST(Lease, NobodyIsKeptAtAPriceTheyDoNotAccept) {
  Pair w;
  const auto lease = w.running(0.2_cr);
  trade_at(w, 0.5_cr);
  const auto events = w.pass(minutes(62));
  bool told = false;
  for (const auto& e : events)
    if (const auto* d = std::get_if<LeaseDraining>(&e); d && d->lease == lease)
      told = d->reason == "the price is 0.22 now";
  EXPECT_TRUE(told);
  EXPECT_EQ(w.at(lease).outcome, LeaseOutcome::term);
  EXPECT_EQ(w.at(lease).paid, 0.2_cr);
  EXPECT_EQ(w.at(w.at(lease).job).state, JobState::queued);
}

TEST(Lease, APostedPriceIsAlsoThePriceOfTheNextTerm) {
  Pair w;
  auto c = w.s.slot_class(w.slot_class());
  c.mechanism = "posted";
  c.params["price"] = "0.4";
  w.run(kBoss, SetClass{c});
  w.offer(w.m, {.reserve = 0.1_cr});
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  w.clear();
  const auto lease = w.start_all(job).front();
  EXPECT_EQ(w.at(lease).term.pays, 0.4_cr);
  w.pass(minutes(90));
  EXPECT_EQ(w.at(lease).term.pays, 0.4_cr);
  EXPECT_EQ(w.at(lease).paid, 0.6_cr);
}

TEST(Lease, TheLendersWindowAndLongestLeaseAreHonoured) {
  Pair w;
  OfferTerms night;
  night.availability.weekly = {parse_weekly("Mon 00:00-02:30").value()};
  const auto lease = w.running(0.1_cr, 1, 5_cr, night);
  w.pass(minutes(149));
  EXPECT_EQ(w.at(lease).state, LeaseState::draining);
  EXPECT_EQ(w.at(lease).detail, "the offer's window ends");
  w.pass(minutes(2));
  EXPECT_EQ(w.at(lease).outcome, LeaseOutcome::term);
  EXPECT_EQ(w.at(lease).paid, 0.25_cr);
  w.clear();
  EXPECT_EQ(w.at(w.at(lease).job).held, 0);  // Closed until next Monday.
  w.run(user(w.bob), CancelJob{w.at(lease).job, ""});
  const auto shorter = w.running(0.1_cr, 1, 5_cr, {.longest_lease = minutes(80)});
  w.pass(minutes(82));
  EXPECT_EQ(w.at(shorter).outcome, LeaseOutcome::term);
  EXPECT_EQ(w.at(shorter).paid, base::cost(0.1_cr, 1, minutes(80)));
}

TEST(Lease, AnOfferThatIsAlwaysOpenNeverSeemsToEnd) {
  Pair w;
  OfferTerms always;
  always.availability.weekly = {parse_weekly("daily 00:00-24:00").value()};
  w.offer(w.m, always);
  for (int day = 0; day < 40; ++day) {
    w.now = w.now + hours(23) + minutes(59);
    const auto job = w.job(w.bob, wants(1, 1, 0.1_cr, 1_cr));
    w.clear();
    ASSERT_EQ(w.at(job).held, 1) << day;
    EXPECT_EQ(w.at(w.at(job).leases.front()).term.until, w.now + hours(1)) << day;
    w.run(user(w.bob), CancelJob{job, ""});
  }
}

TEST(Lease, ASleepingServerDoesNotBlameTheLender) {
  Pair w;
  const auto lease = w.running(1_cr);
  w.pass(minutes(50));
  w.now = w.now + minutes(10) + seconds(20);  // No clock, no reports for ten minutes.
  w.run(kSystem, Tick{});
  EXPECT_EQ(w.at(lease).state, LeaseState::draining);
  w.beat(w.m);
  w.tick(seconds(45));
  EXPECT_EQ(w.at(lease).outcome, LeaseOutcome::term);
  EXPECT_EQ(w.at(lease).paid, 1_cr);  // The term, to its end.
  EXPECT_GT(w.s.machines.at(w.m).reliability_ppm, 900'000);
}

TEST(Lease, TheLastSecondsOfATermArePaid) {
  Pair w;
  OfferTerms until;
  until.availability.once = Interval{kStart, kStart + minutes(30)};
  const auto lease = w.running(1_cr, 1, 5_cr, until);
  w.pass(minutes(29) + seconds(50));
  w.pass(seconds(40), seconds(15));
  EXPECT_EQ(w.at(lease).paid, 0.5_cr);
}

TEST(Lease, ATermBeginsOnceThoughTimeJumpsAnHourOrRunsBackwards) {
  Pair w;
  const auto lease = w.running(1_cr);
  const auto began = w.now;
  w.pass(minutes(59));
  w.now = began;  // Back by an hour: nothing happens, nothing is paid back.
  EXPECT_EQ(count<LeaseSettled>(w.beat(w.m)), 0u);
  w.now = began + minutes(119);
  w.beat(w.m);
  EXPECT_EQ(w.at(lease).paid, base::cost(1_cr, 1, minutes(119)));
  w.now = began + hours(24);
  w.beat(w.m);
  EXPECT_EQ(w.at(lease).paid, 2_cr);  // Two terms were agreed, so two are paid.
  w.tick();
  EXPECT_EQ(w.at(lease).state, LeaseState::closed);
}

TEST(Liveness, AMachineIsUnheardUntilItsAgentSpeaksAndAfterItsSilence) {
  Pair w;
  w.offer(w.m);
  const auto idle = w.machine(w.lena);  // Without offers nobody asks.
  Liveness heard;
  heard.reset(w.s, w.now);
  const auto late = w.machine(w.lena);
  w.offer(late);
  EXPECT_EQ(heard.unheard(w.s, w.now), std::vector{late});
  heard.heard(late, w.now);
  EXPECT_TRUE(heard.unheard(w.s, w.now + w.s.settings.silence).empty());
  EXPECT_EQ(heard.unheard(w.s, w.now + w.s.settings.silence + Duration(1)),
            (std::vector{w.m, late}));
  EXPECT_NE(idle, late);
}

TEST(Liveness, ALeaseIsTakenUpWhenItsAgentNamesIt) {
  Pair w;
  w.offer(w.m);
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  Liveness heard;
  for (const auto& event : w.clear()) heard.observe(event, w.now);
  const auto lease = w.at(job).leases.front();
  const auto& v = w.s.settings;
  EXPECT_TRUE(heard.untaken(w.s, w.now + v.pickup).empty());
  EXPECT_EQ(heard.untaken(w.s, w.now + v.pickup + Duration(1)), std::vector{lease});
  heard.heard(lease, w.now);
  EXPECT_TRUE(heard.untaken(w.s, w.now + v.silence).empty());  // It prepares.
  EXPECT_EQ(heard.untaken(w.s, w.now + v.silence + Duration(1)), std::vector{lease});
}

TEST(Liveness, NobodyIsSilentWhileNobodyListens) {
  Pair w;
  const auto lease = w.running(0.2_cr);
  Liveness heard;
  heard.reset(w.s, w.now);
  const auto woke = w.now + base::hours(1);
  EXPECT_EQ(heard.silent(w.s, woke), std::vector{lease});
  heard.forgive(base::hours(1) - base::seconds(5), woke);
  EXPECT_TRUE(heard.silent(w.s, woke).empty());
  EXPECT_TRUE(heard.unheard(w.s, woke).empty());
  EXPECT_EQ(heard.silent(w.s, woke + w.s.settings.silence), std::vector{lease});
}

}  // namespace
}  // namespace souk::market::testing
