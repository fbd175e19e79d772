#include <gtest/gtest.h>

#include <algorithm>

#include "market/eligible.h"
#include "market/limits.h"
#include "market/testing/world.h"
#include "market/why.h"

namespace souk::market::testing {
namespace {

using base::minutes;

struct RoundMarket : World {
  AccountId lena = account("lena"), mia = account("mia"), bob = account("bob", 1000_cr);

  MachineId with(AccountId owner, MachineSpec spec) {
    spec.cores = 8;
    spec.memory_mib = 65'536;
    return machine(owner, std::move(spec));
  }
};

TEST(Round, AJobRunsOnlyWhereItsOwnerAllows) {
  RoundMarket w;
  const auto eu = w.with(w.lena, {.region = "eu", .packages = {"numpy==1.24.2"}, .rtt_ms = 20});
  const auto us =
      w.with(w.mia, {.region = "us", .provider = "ec2", .packages = {"torch"}, .rtt_ms = 90});
  const auto trusted = w.with(w.mia, {.region = "asia", .packages = {"numpy"}, .rtt_ms = 90});
  for (const auto m : {eu, us, trusted}) w.offer(m);
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 1_cr));
  w.clear();  // One lease kept makes a machine more reliable than the others: 920000.
  const auto kept = w.s.leases.at(w.start_all(job).front()).machine;
  w.pass(minutes(2));
  w.finish(w.at(job).leases.front());
  const std::pair<Constraints, std::vector<MachineId>> rows[] = {
      {{}, {eu, us, trusted}},
      {{.packages = {"numpy"}}, {eu, trusted}},
      {{.packages = {"numpy==1.24.2"}}, {eu}},
      {{.packages = {"numpy", "torch"}}, {}},
      {{.regions = {"us", "eu"}}, {eu, us}},
      {{.max_rtt_ms = 50}, {eu}},
      {{.min_reliability_ppm = 910'000}, {kept}},
      {{.lenders_allowed = {w.mia}}, {us, trusted}},
      {{.lenders_refused = {w.mia}}, {eu}},
      {{.providers_allowed = {"ec2"}}, {us}},
      {{.providers_refused = {"ec2"}}, {eu, trusted}},
      {{.regions = {"us"}, .lenders_refused = {w.mia}}, {}},
  };
  for (const auto& [constraints, allowed] : rows) {
    auto terms = wants(1, 3, 1_cr, 3_cr);
    terms.constraints = constraints;
    const auto picky = w.job(w.bob, terms);
    w.clear();
    std::vector<MachineId> got;
    for (const auto l : w.at(picky).leases) got.push_back(w.at(l).machine);
    std::ranges::sort(got);
    EXPECT_EQ(got, allowed) << "row " << &constraints - &rows[0].first;
    w.run(user(w.bob), CancelJob{picky, ""});
  }
}

TEST(Round, TheJobWithTheFewestChancesChoosesFirst) {
  RoundMarket w;
  w.offer(w.with(w.lena, {.region = "eu"}));
  w.offer(w.with(w.lena, {.region = "us"}));
  const auto easy = w.job(w.bob, wants(1, 1, 1_cr, 1_cr));
  auto terms = wants(1, 1, 1_cr, 1_cr);
  terms.constraints.regions = {"eu"};
  const auto picky = w.job(w.bob, terms);
  w.clear();
  EXPECT_EQ(w.at(picky).held, 1);
  EXPECT_EQ(w.at(easy).held, 1);
}

TEST(Round, ManyOddDemandsDoNotShutOthersOut) {
  RoundMarket w;
  auto odd = wants(1, 1, 1_cr, 1_cr);
  for (std::size_t i = 0; i < kConstraintSets + 20; ++i) {
    odd.constraints.regions = {"atlantis" + std::to_string(i)};
    w.job(w.bob, odd);
  }
  w.offer(w.with(w.lena, {.region = "eu"}), {.slots = 2});
  const auto plain = w.job(w.bob, wants(1, 1, 1_cr, 1_cr));
  odd.constraints.regions = {"eu"};
  const auto picky = w.job(w.bob, odd);
  w.clear();
  EXPECT_EQ(w.at(plain).held, 1);  // At once.
  for (std::uint64_t seed = 1; seed < 40 && w.at(picky).held == 0; ++seed) w.clear("c1", seed);
  EXPECT_EQ(w.at(picky).held, 1);  // In one of the next rounds.
}

TEST(Round, DemandsThatNothingMeetsTakeNoTurn) {
  RoundMarket w;
  auto odd = wants(1, 1, 1_cr, 0.05_cr);
  for (std::size_t i = 0; i < 5 * kConstraintSets; ++i) {
    // Some of it exists, but not together; some asks for too low a price.
    odd.constraints = {};
    odd.limit = 1_cr;
    if (i % 3 == 0) odd.constraints.regions = {"atlantis" + std::to_string(i)};
    if (i % 3 == 1) {
      odd.constraints.regions = {"us", "r" + std::to_string(i)};
      odd.constraints.packages = {"numpy"};
    }
    if (i % 3 == 2) {
      odd.constraints.regions = {"eu", "r" + std::to_string(i)};
      odd.limit = 0.1_cr;
    }
    w.job(w.bob, odd);
  }
  w.offer(w.with(w.lena, {.region = "eu", .packages = {"numpy==1.2"}}), {.reserve = 0.2_cr});
  w.offer(w.with(w.lena, {.region = "us"}), {.reserve = 0.2_cr});
  auto picky = wants(1, 1, 1_cr, 1_cr);
  picky.constraints.regions = {"eu"};
  picky.constraints.packages = {"numpy"};
  const auto job = w.job(w.account("zoe", 10_cr), picky);
  w.clear();
  EXPECT_EQ(w.at(job).held, 1);
}

TEST(Round, OwnersTakeTurnsWhoeverHasTheMostDemands) {
  RoundMarket w;
  auto odd = wants(1, 1, 1_cr, 0.05_cr);
  for (std::size_t i = 0; i < 10 * kConstraintSets; ++i) {
    odd.constraints.regions = {"eu", "r" + std::to_string(i)};
    w.job(w.bob, odd);
  }
  std::vector<JobId> others;
  for (int i = 0; i < 5; ++i) {
    odd.constraints.regions = {"eu", "other" + std::to_string(i)};
    odd.limit = 2_cr;
    others.push_back(w.job(w.account("p" + std::to_string(i), 10_cr), odd));
  }
  for (int i = 0; i < 80; ++i) w.offer(w.with(w.lena, {.region = "eu"}));
  w.clear();
  for (const auto id : others) EXPECT_EQ(w.at(id).held, 1) << to_string(id);
}

TEST(Round, AMachineThatIsNotHeardFromGetsNoLease) {
  RoundMarket w;
  const auto ghost = w.with(w.lena, {}), there = w.with(w.lena, {});
  w.offer(ghost);
  w.offer(there, {.reserve = 0.5_cr});
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 1_cr));
  w.run(kSystem, Clear{.slot_class = w.slot_class(), .seed = 1, .unheard = {ghost}});
  ASSERT_EQ(w.at(job).held, 1);
  EXPECT_EQ(w.at(w.at(job).leases.front()).machine, there);
}

TEST(Round, TradingWithOneselfMakesNoPrice) {
  RoundMarket w;
  w.offer(w.with(w.bob, {}), {.reserve = 1_cr});
  w.job(w.bob, wants(1, 1, 1_cr, 1_cr));
  EXPECT_FALSE(only<RoundCleared>(w.clear()).price);
}

TEST(Round, PriorityBreaksTiesBetweenEqualLimitsAndReliabilityBetweenEqualOffers) {
  RoundMarket w;
  w.offer(w.with(w.lena, {}));
  w.job(w.bob, wants(1, 1, 1_cr, 1_cr));
  auto urgent_terms = wants(1, 1, 1_cr, 1_cr);
  urgent_terms.priority = 5;
  const auto urgent = w.job(w.bob, urgent_terms);
  w.clear();
  EXPECT_EQ(w.at(urgent).held, 1);
  // The machine that lost a lease comes after one that did not.
  w.start_all(urgent);
  w.run(kSystem, ExpireLease{w.at(urgent).leases.front()});
  w.beat(MachineId(1));
  for (const auto id : {JobId(1), urgent}) w.run(user(w.bob), CancelJob{id, ""});
  const auto sound = w.with(w.mia, {});
  w.offer(sound);
  const auto later = w.job(w.bob, wants(1, 1, 2_cr, 1_cr));
  w.clear();
  EXPECT_EQ(w.at(w.at(later).leases.front()).machine, sound);
}

TEST(Round, WhatIsNotOnOfferNowIsNotSold) {
  RoundMarket w;
  const auto m = w.with(w.lena, {});
  OfferTerms later;
  later.availability.once = Interval{w.now + minutes(30), w.now + minutes(90)};
  const auto offer = w.offer(m, later);
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 1_cr));
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 0u);
  w.now = w.now + minutes(30);
  w.run(user(w.lena), PauseOffer{offer, w.now + minutes(5)});
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 0u);
  w.now = w.now + minutes(5);
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 1u);
  EXPECT_EQ(w.at(w.at(job).leases.front()).term.until, later.availability.once->until);
  EXPECT_EQ(w.refused(kSystem, RemoveOffer{offer}).code, base::Code::conflict);
  w.run(user(w.bob), CancelJob{job, ""});
  w.run(user(w.lena), DrainOffer{offer});
  w.job(w.bob, wants(1, 1, 1_cr, 1_cr));
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 0u);
}

TEST(Round, ALenderWhoComesBackGivesNoticeAndIsPaidForIt) {
  RoundMarket w;
  const auto m = w.with(w.lena, {});
  const auto offer = w.offer(m, {.slots = 2, .reserve = 1_cr});
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  w.clear();
  const auto lease = w.start_all(job).front();
  w.pass(minutes(10));
  w.run(user(w.lena), PauseOffer{offer, w.now + base::hours(8)});
  EXPECT_EQ(w.at(lease).state, LeaseState::draining);
  EXPECT_EQ(w.at(lease).term.until, w.now + w.s.settings.drain);
  w.pass(minutes(4));
  EXPECT_EQ(w.at(lease).outcome, LeaseOutcome::term);
  EXPECT_EQ(w.balance(w.lena).available, 0.2_cr);  // Ten minutes and two of notice.
  EXPECT_EQ(w.at(job).state, JobState::queued);
}

TEST(Round, ASlotIsNeverSoldTwice) {
  RoundMarket w;
  const auto m = w.with(w.lena, {});  // Eight cores.
  w.offer(m, {.slots = 4}, "c1");
  w.offer(m, {.slots = 2}, "c2");
  EXPECT_EQ(w.refused(user(w.lena), PostOffer{m, w.slot_class("c1"), {}}).field, "slots");
  EXPECT_EQ(w.refused(user(w.lena), PostOffer{m, w.slot_class("g1"), {}}).field, "class");
  auto spec = w.s.machines.at(m).spec;
  spec.cores = 7;
  EXPECT_EQ(w.refused(w.agent(m), ChangeMachine{m, "m1", spec}).field, "slots");
  const auto job = w.job(w.bob, wants(3, 3, 1_cr, 9_cr));
  w.clear();
  EXPECT_EQ(w.at(job).held, 3);
  EXPECT_EQ(w.refused(user(w.lena), ChangeOffer{OfferId(1), {.slots = 2}}).field, "slots");
  EXPECT_EQ(w.refused(user(w.lena), RemoveMachine{m}).code, base::Code::conflict);
  w.run(user(w.lena), ChangeOffer{OfferId(1), {.slots = 3}});
  w.job(w.bob, wants(1, 1, 1_cr, 9_cr));
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 0u);
}

TEST(Round, ARoundIsRecordedWithItsSeedAndSampledEvenWhenIdle) {
  RoundMarket w;
  EXPECT_TRUE(w.clear().empty());  // Nothing at all to say.
  w.offer(w.with(w.lena, {}), {.slots = 3});
  const auto idle = only<RoundCleared>(w.clear("c1", 42));
  EXPECT_EQ(idle.seed, 42u);
  EXPECT_EQ(idle.supply, 3);
  EXPECT_EQ(idle.mechanism, "k-double");
  EXPECT_EQ(idle.reference, 0.185_cr);  // Below the class's price: nobody wants it.
  EXPECT_FALSE(idle.price);
  w.now = w.now + minutes(4);
  EXPECT_TRUE(w.clear().empty());
  w.now = w.now + minutes(1);
  EXPECT_EQ(w.clear().size(), 1u);
  EXPECT_EQ(w.refused(user(w.bob), Clear{w.slot_class(), 1}).code, base::Code::forbidden);
}

TEST(Round, TheSuggestionCountsThoseWhoWouldTradeAtIt) {
  RoundMarket w;
  const auto round = [&] { return only<RoundCleared>(w.clear()).reference; };
  w.offer(w.with(w.lena, {}), {.slots = 2, .reserve = 0.15_cr});
  const auto hopeless = w.job(w.bob, wants(2, 2, 0.1_cr, 9_cr));  // The class's price is 0.2.
  EXPECT_EQ(round(), 0.19_cr);  // It is no demand at that price: the market is idle.
  EXPECT_EQ(w.s.suggested(w.slot_class(), w.now, w.now), 0.19_cr);
  w.run(user(w.bob), CancelJob{hopeless});
  w.job(w.bob, wants(1, 1, 0.25_cr, 9_cr));
  EXPECT_EQ(w.s.suggested(w.slot_class(), w.now, w.now), 0.19_cr);  // One who waits is no crowd.
  w.job(w.account("zoe", 10_cr), wants(1, 1, 0.25_cr, 9_cr));
  EXPECT_EQ(w.s.suggested(w.slot_class(), w.now, w.now), 0.212_cr);
  EXPECT_EQ(round(), 0.212_cr);
  w.now = w.now + minutes(6);
  w.offer(w.with(w.lena, {}), {.slots = 8, .reserve = 9_cr});  // Nothing on offer at that price.
  w.job(w.bob, wants(1, 1, 0.25_cr, 9_cr));
  EXPECT_GT(round(), 0.2_cr);
}

// One borrower who wants up to four workers at 2, two slots at 0.5, nobody else.
TEST(Round, InANewMarketABorrowerDoesNotBidAgainstItselfAndThePriceStays) {
  RoundMarket w;
  auto c = w.s.slot_class(w.slot_class());
  c.mechanism = kDefaultMechanism;
  w.run(kBoss, SetClass{c});
  Credits lowest = c.price, highest = c.price;
  for (int runs = 0; runs < 20; ++runs) {
    const auto one = w.offer(w.with(w.lena, {}), {.slots = 1, .reserve = 0.5_cr});
    const auto two = w.offer(w.with(w.mia, {}), {.slots = 1, .reserve = 0.5_cr});
    const auto job = w.job(w.bob, wants(1, 4, 2_cr, 9_cr));
    w.clear();
    ASSERT_EQ(w.s.jobs.at(job).leases.size(), 2u);
    for (const auto id : w.start_all(job)) {
      EXPECT_EQ(w.s.leases.at(id).term.pays, 0.5_cr);
      EXPECT_EQ(w.s.leases.at(id).term.gets, 0.5_cr);
    }
    const auto see = [&] {
      const auto price = w.s.suggested(w.slot_class(), w.now, w.now);
      lowest = std::min(lowest, price);
      highest = std::max(highest, price);
    };
    see();
    w.pass(minutes(1));
    see();
    w.run(user(w.bob), CancelJob{job, ""});
    see();
    w.run(user(w.lena), RemoveOffer{one});
    w.run(user(w.mia), RemoveOffer{two});
    see();
  }
  EXPECT_GE(lowest, Credits(c.price.micro * 9 / 10));
  EXPECT_LE(highest, Credits(c.price.micro * 11 / 10));
}

TEST(Round, AnOfferAtMarketAsksForTheSuggestedPriceAndWhySaysSo) {
  RoundMarket w;
  auto c = w.s.slot_class(w.slot_class());
  c.mechanism = kDefaultMechanism;
  w.run(kBoss, SetClass{c});
  w.offer(w.with(w.lena, {}), {.slots = 2});
  const auto low = w.job(w.bob, wants(1, 1, 0.1_cr, 9_cr));
  w.clear();
  EXPECT_TRUE(w.s.jobs.at(low).leases.empty());
  const auto said = why(w.s, w.s.jobs.at(low), w.now);
  const auto asked = w.s.suggested(w.slot_class(), w.now, w.now);
  ASSERT_FALSE(said.relaxations.empty());
  EXPECT_EQ(said.relaxations.front().flag, "--price " + to_string(asked));
  w.run(user(w.bob), CancelJob{low, ""});
  const auto high = w.job(w.bob, wants(1, 1, 2_cr, 9_cr));
  const auto paid = w.s.suggested(w.slot_class(), w.now, w.now);
  w.clear();
  ASSERT_EQ(w.s.jobs.at(high).leases.size(), 1u);
  EXPECT_EQ(w.s.leases.at(w.s.jobs.at(high).leases.front()).term.pays, paid);
}

TEST(Round, AWeeklyWindowIsCheckedHoweverItWasMade) {
  RoundMarket w;
  const auto m = w.with(w.lena, {});
  for (const WeeklyWindow& bad :
       {WeeklyWindow{0, 0, 60}, WeeklyWindow{0xff, 0, 60}, WeeklyWindow{1, -5, 60},
        WeeklyWindow{1, 1440, 60}, WeeklyWindow{1, 0, 0}, WeeklyWindow{1, 0, 1441},
        WeeklyWindow{1, 0, 60, "Mars/Olympus"}}) {
    OfferTerms terms;
    terms.availability.weekly = {bad};
    EXPECT_EQ(w.refused(user(w.lena), PostOffer{m, w.slot_class(), terms}).field, "weekly")
        << to_string(bad);
  }
  OfferTerms past;
  past.availability.once = Interval{w.now - minutes(9), w.now};
  EXPECT_EQ(w.refused(user(w.lena), PostOffer{m, w.slot_class(), past}).field, "until");
  past.availability.once = Interval{base::kNever - minutes(1), base::kNever};
  EXPECT_EQ(w.refused(user(w.lena), PostOffer{m, w.slot_class(), past}).field, "from");
  for (const auto longest : {Duration(0), Duration(std::numeric_limits<std::int64_t>::max())})
    EXPECT_EQ(
        w.refused(user(w.lena), PostOffer{m, w.slot_class(), {.longest_lease = longest}}).field,
        "longest_lease");
}

TEST(Round, TwoMachinesOfOneLenderNeverShareAName) {
  RoundMarket w;
  const auto first = w.with(w.lena, {}), second = w.with(w.lena, {});
  const auto& taken = w.s.machines.at(first);
  EXPECT_EQ(w.refused(user(w.lena), AddMachine{taken.name, {}}).code, base::Code::conflict);
  EXPECT_EQ(w.refused(user(w.lena), ChangeMachine{second, taken.name, taken.spec}).code,
            base::Code::conflict);
  w.run(user(w.lena), ChangeMachine{first, taken.name, {.cores = 9, .memory_mib = 65'536}});
  w.run(user(w.mia), AddMachine{taken.name, {}});  // Somebody else may.
}

// Two jobs and two machines of one slot each. The first job is faster on the second machine, and
// the other way about.
struct Paced : RoundMarket {
  AccountId ann = account("ann", 1000_cr);
  MachineId one = with(lena, {}), two = with(mia, {});
  JobId first, second;

  explicit Paced(const std::string& mechanism) {
    auto c = s.slot_class(slot_class());
    c.mechanism = mechanism;
    run(kBoss, SetClass{c});
    offer(one, {.slots = 1});
    offer(two, {.slots = 1});
    first = job(bob, wants(1, 1, 1_cr, 1_cr));
    second = job(ann, wants(1, 1, 1_cr, 1_cr));
  }

  std::vector<Pace> crossed() const {
    return {{first, one, 1}, {first, two, 3}, {second, one, 5}, {second, two, 1}};
  }
  Events measured(std::vector<Pace> paces, std::vector<JobWork> works = {}) {
    return run(kSystem, Clear{.slot_class = slot_class(),
                              .seed = 1,
                              .paces = std::move(paces),
                              .works = std::move(works)});
  }
  MachineId machine_of(JobId id) const { return at(at(id).leases.at(0)).machine; }
};

TEST(MeasuredRound, EachJobGetsTheMachineItIsFasterOn) {
  Paced w("las");
  w.measured(w.crossed());
  EXPECT_EQ(w.machine_of(w.first), w.two);
  EXPECT_EQ(w.machine_of(w.second), w.one);
  Paced blind("k-double");
  blind.measured(blind.crossed());
  EXPECT_EQ(blind.machine_of(blind.first), blind.one);
  EXPECT_EQ(blind.machine_of(blind.second), blind.two);
}

TEST(MeasuredRound, DataDoesNotMoveAJobToASlowMachine) {
  Paced w("las");
  w.run(kSystem, Clear{.slot_class = w.slot_class(),
                       .seed = 1,
                       .near = {{w.first, w.one}, {w.second, w.two}},
                       .paces = w.crossed()});
  EXPECT_EQ(w.machine_of(w.first), w.two);
  EXPECT_EQ(w.machine_of(w.second), w.one);
}

// The first job was measured on one machine alone, where it is as fast as anywhere for all that is
// known; the second knows where it is fast.
TEST(MeasuredRound, WhatWasNotMeasuredCountsAsTheMean) {
  Paced w("las");
  w.measured({{w.first, w.two, 7}, {w.second, w.one, 1}, {w.second, w.two, 3}});
  EXPECT_EQ(w.machine_of(w.first), w.one);
  EXPECT_EQ(w.machine_of(w.second), w.two);
}

TEST(MeasuredRound, AJobNeverRunsWhereItCannot) {
  Paced w("las");
  w.measured({{w.first, w.one, 0}, {w.second, w.one, 0}});
  EXPECT_TRUE(w.at(w.first).leases.empty() || w.at(w.second).leases.empty());
  EXPECT_EQ(w.machine_of(w.at(w.first).leases.empty() ? w.second : w.first), w.two);
}

TEST(MeasuredRound, WorkDecidesWhereTheRuleLooksAtIt) {
  for (const bool second_is_longer : {false, true}) {
    Paced w("makespan");
    const double left = second_is_longer ? 100 : 9000;
    w.measured(
        {{w.first, w.one, 4}, {w.first, w.two, 1}, {w.second, w.one, 4}, {w.second, w.two, 1}},
        {{w.first, {.steps = left}}, {w.second, {.steps = 3000}}});
    EXPECT_EQ(w.machine_of(second_is_longer ? w.second : w.first), w.one);
  }
}

TEST(MeasuredRound, WithoutMeasuresItClearsAsIfAllWereAlike) {
  Paced w("las");
  w.clear();
  EXPECT_EQ(w.at(w.first).held + w.at(w.second).held, 2);
}

TEST(MeasuredRound, NumbersThatAreNoneAreRefused) {
  Paced w("las");
  const auto pace =
      w.refused(kSystem, Clear{.slot_class = w.slot_class(), .paces = {{w.first, w.one, -1}}});
  EXPECT_EQ(pace.field, "paces");
  EXPECT_EQ(pace.message,
            "job " + to_string(w.first) + " has a pace of -1 on machine " + to_string(w.one));
  const auto work =
      w.refused(kSystem, Clear{.slot_class = w.slot_class(), .works = {{w.first, {.done = -2}}}});
  EXPECT_EQ(work.field, "works");
}

}  // namespace
}  // namespace souk::market::testing
