#include "server/proof/challenges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "server/testing/challenges.h"

namespace souk::server {
namespace {

using base::Duration;
using base::hours;
using base::milliseconds;
using base::minutes;
using base::seconds;
using base::Time;
using testing::ChallengeOutcomes;
using ::testing::HasSubstr;
using testing::kMachine;
using testing::kOwner;

// Challenges whose answers need not be computed: the results are the seeds.
struct PlayedMachine {
  Challenges challenges;
  ClaimedMachine claimed{.machine = kMachine, .owner = kOwner, .cores = 4, .memory_mib = 1000};
  Time now = Time() + hours(1);

  explicit PlayedMachine(Duration every = hours(1), double slack = 1)
      : challenges({.every = every, .slack = slack}, 7) {}

  std::optional<wire::Challenge> beat() {
    if (auto plan = challenges.to_prepare(claimed, now)) {
      for (auto* lanes : {&plan->half, &plan->all})
        for (auto& known : *lanes) known.result = known.seed;
      plan->group_result = plan->reads;
      challenges.prepared(plan->machine, plan->owner, *plan);
    }
    return challenges.ask(claimed, now);
  }
  wire::Challenge first() {
    claimed.untrusted = true;
    auto asked = beat();
    EXPECT_TRUE(asked);
    return *asked;
  }
  static wire::ChallengeAnswer right(const wire::Challenge& c) {
    wire::ChallengeAnswer out{.id = c.id};
    if (c.kind == wire::ChallengeKind::compute) out.results = c.seeds;
    if (c.kind == wire::ChallengeKind::read)
      out.results.assign(static_cast<std::size_t>(base::kGroups), c.seeds[0]);
    return out;
  }
  Challenges::Verdict take(const wire::ChallengeAnswer& answer, Duration after) {
    now = now + after;
    auto verdict = challenges.take(kMachine, answer, now);
    EXPECT_TRUE(verdict);
    return verdict.value_or(Challenges::Verdict());
  }
  // Answers everything, each question after this time.
  Challenges::Verdict pass(wire::Challenge c, Duration each = milliseconds(300)) {
    for (;;) {
      auto verdict = take(right(c), each);
      if (!verdict.next) return verdict;
      c = *verdict.next;
    }
  }
};

TEST(Challenges, ANewMachineIsAskedAtOnceForAllThatItClaims) {
  PlayedMachine p;
  const auto half = p.first();
  EXPECT_EQ(half.kind, wire::ChallengeKind::compute);
  EXPECT_EQ(half.seeds.size(), 2u);
  auto verdict = p.take(PlayedMachine::right(half), milliseconds(300));
  ASSERT_TRUE(verdict.next);
  EXPECT_EQ(verdict.next->seeds.size(), 4u) << "all of its cores at once";
  verdict = p.take(PlayedMachine::right(*verdict.next), milliseconds(310));
  ASSERT_TRUE(verdict.next);
  EXPECT_EQ(verdict.next->kind, wire::ChallengeKind::fill);
  EXPECT_EQ(verdict.next->memory_mib, 600);
  verdict = p.take(PlayedMachine::right(*verdict.next), seconds(1));
  ASSERT_TRUE(verdict.next);
  EXPECT_EQ(verdict.next->kind, wire::ChallengeKind::read);
  EXPECT_TRUE(p.take(PlayedMachine::right(*verdict.next), milliseconds(100)).passed);
}

TEST(Challenges, ComeAtRandomTimesAsOftenAsAsked) {
  PlayedMachine p;
  int asked = 0;
  std::set<std::int64_t> gaps;
  Time last;
  for (const auto end = p.now + hours(500); p.now < end; p.now = p.now + minutes(1)) {
    const auto one = p.beat();
    if (!one) continue;
    ++asked;
    gaps.insert((p.now - last).us);
    last = p.now;
    EXPECT_TRUE(p.pass(*one).passed);
  }
  EXPECT_NEAR(asked, 500, 80);
  EXPECT_GT(gaps.size(), 100u);
}

TEST(Challenges, HoweverManyCoresAreClaimedAFewResultsAreEnough) {
  PlayedMachine p;
  p.claimed.cores = 4'000;
  const auto half = p.first();
  EXPECT_EQ(half.seeds.size(), 2'000u);
  EXPECT_EQ(std::set(half.seeds.begin(), half.seeds.end()).size(), 2'000u);
  // Half of the results are made up: half of the cores are.
  auto answer = PlayedMachine::right(half);
  for (std::size_t i = 0; i < answer.results.size(); i += 2) answer.results[i] = "1";
  EXPECT_THAT(p.take(answer, milliseconds(300)).wrong, HasSubstr("wrong"));
}

TEST(Challenges, AnAnswerCountsOnceAndSilenceIsNoticed) {
  PlayedMachine p;
  const auto one = p.first();
  EXPECT_FALSE(p.beat()) << "one at a time";
  EXPECT_FALSE(p.challenges.take(kMachine, {.id = one.id + "0"}, p.now));
  const auto silent = p.challenges.unanswered(kMachine, p.now + seconds(2));
  ASSERT_TRUE(silent);
  EXPECT_THAT(silent->slow, HasSubstr("did not answer"));
  EXPECT_FALSE(p.challenges.take(kMachine, PlayedMachine::right(one), p.now));
}

TEST(Challenges, WhatCannotBeFilledOrReadInTimeIsNotThere) {
  PlayedMachine p;
  auto verdict = p.take(PlayedMachine::right(p.first()), milliseconds(300));
  verdict = p.take(PlayedMachine::right(*verdict.next), milliseconds(300));
  EXPECT_THAT(p.take({.id = verdict.next->id, .trouble = "no memory"}, milliseconds(1)).slow,
              HasSubstr("no memory"));
  p.now = p.now + hours(1);
  verdict = p.take(PlayedMachine::right(p.first()), milliseconds(300));
  verdict = p.take(PlayedMachine::right(*verdict.next), milliseconds(300));
  verdict = p.take(PlayedMachine::right(*verdict.next), seconds(1));
  EXPECT_THAT(p.take(PlayedMachine::right(*verdict.next), milliseconds(500)).slow,
              HasSubstr("read"));
}

TEST(Challenges, AMachineThatSpacesThemItselfIsAskedInItsFirstQuietMinute) {
  PlayedMachine p;
  for (int i = 0; i < 10; ++i) {
    auto busy = PlayedMachine::right(p.first());
    busy.cpu_share = 0.5;
    EXPECT_THAT(p.take(busy, seconds(1)).slow, HasSubstr("too busy"));
    const auto failed = p.now;
    EXPECT_FALSE(p.beat());
    p.challenges.shorten_rest(kMachine);
    p.now = failed + seconds(31);
  }
  EXPECT_TRUE(p.pass(p.first()).passed);
}

TEST(Challenges, TakeLittleOfAMachinesTime) {
  PlayedMachine p(seconds(1));
  Duration busy;
  const auto begin = p.now;
  while (p.now < begin + hours(24)) {
    if (const auto one = p.beat()) {
      const auto before = p.now;
      (void)p.pass(*one);
      busy = busy + (p.now - before);
    }
    p.now = p.now + seconds(1);
  }
  EXPECT_GT(busy, Duration());
  EXPECT_LE(busy.seconds(), (p.now - begin).seconds() * 0.005);
}

TEST(Challenges, AMachineThatClaimsMoreIsAskedSoonAndNotAtOnce) {
  PlayedMachine p(hours(6));
  ASSERT_TRUE(p.pass(p.first()).passed);
  p.claimed.cores *= 2;  // So the market doubts it again.
  EXPECT_FALSE(p.beat());
  p.now = p.now + seconds(15);
  EXPECT_TRUE(p.beat());
}

TEST(Challenges, NobodyKeepsOthersWaitingWithManyMachines) {
  PlayedMachine p;
  p.claimed.untrusted = true;
  auto other = p.claimed;
  ASSERT_TRUE(p.challenges.to_prepare(p.claimed, p.now));
  other.machine = base::MachineId(2);
  EXPECT_FALSE(p.challenges.to_prepare(other, p.now)) << "one at a time for each owner";
  other.owner = base::AccountId(2);
  EXPECT_TRUE(p.challenges.to_prepare(other, p.now));
}

TEST(Challenges, ZeroMeansNever) {
  PlayedMachine p{Duration()};
  p.claimed.untrusted = true;
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_FALSE(p.beat());
    p.now = p.now + hours(1);
  }
}

// A machine whose owner uses it: so many other threads want its cores, and the scheduler is fair.
struct BusyMachine {
  std::int32_t cores;
  std::int32_t load;

  [[nodiscard]] double share(std::int32_t lanes) const {
    return std::min(1.0, static_cast<double>(cores) / (lanes + load));
  }
  [[nodiscard]] Duration time(std::int32_t lanes, base::Random& random) const {
    const auto jitter = static_cast<double>(random.between(0, 15));
    return Duration(static_cast<std::int64_t>((330 / share(lanes) + jitter) * 1000));
  }
};

// `claims`: how many times its cores it claims.
ChallengeOutcomes challenge_busy_machines(std::int32_t claims, int challenges) {
  base::Random random(11);
  ChallengeOutcomes out;
  while (out.asked < challenges) {
    PlayedMachine p;
    BusyMachine machine{.cores = static_cast<std::int32_t>(random.between(1, 64)), .load = 0};
    p.claimed.cores = machine.cores * claims;
    p.claimed.untrusted = true;
    for (int i = 0; i < 50 && out.asked < challenges; p.now = p.now + seconds(10)) {
      auto question = p.beat();
      if (!question) continue;
      ++i;
      ++out.asked;
      // Idle for two fifths of the time, else up to twice as much is wanted as it has.
      machine.load =
          random.below(5) < 2 ? 0 : static_cast<std::int32_t>(random.between(1, 2 * machine.cores));
      Challenges::Verdict verdict;
      while (question) {
        auto answer = PlayedMachine::right(*question);
        const auto lanes = static_cast<std::int32_t>(question->seeds.size());
        const bool compute = question->kind == wire::ChallengeKind::compute;
        if (compute) answer.cpu_share = machine.share(lanes);
        verdict = p.take(answer, compute ? machine.time(lanes, random) : milliseconds(100));
        question = verdict.next;
      }
      out.passed += verdict.passed;
      out.wrong += !verdict.wrong.empty();
      out.suspended += verdict.suspend;
      if (verdict.passed) p.claimed.untrusted = false;
    }
  }
  return out;
}

TEST(Challenges, AThousandOfBusyHonestMachinesAndNoneIsRefused) {
  const auto honest = challenge_busy_machines(1, 1'000);
  EXPECT_GT(honest.passed, 300);
  EXPECT_EQ(honest.wrong, 0);
  EXPECT_EQ(honest.suspended, 0);
}

TEST(Challenges, WhoClaimsTwiceItsCoresNeverPasses) {
  for (const std::int32_t claims : {2, 3, 8}) {
    const auto liars = challenge_busy_machines(claims, 1'000);
    EXPECT_EQ(liars.passed, 0) << claims;
    EXPECT_GT(liars.suspended, 0) << claims;
  }
}

// Ten programs want each of its cores.
TEST(Challenges, WithSlackABusyMachineIsBelieved) {
  for (const double slack : {1, 20}) {
    PlayedMachine p(hours(1), slack);
    auto answer = PlayedMachine::right(p.first());
    answer.cpu_share = 0.1;
    const auto verdict = p.take(answer, seconds(3));
    if (slack == 1) EXPECT_THAT(verdict.slow, HasSubstr("too busy"));
    if (slack == 1) continue;
    ASSERT_TRUE(verdict.next);
    EXPECT_TRUE(p.pass(*verdict.next, seconds(7)).passed);
  }
}

TEST(Challenges, WithSlackALieIsOneStill) {
  PlayedMachine p(hours(1), 20);
  auto answer = PlayedMachine::right(p.first());
  for (auto& result : answer.results) result = "1";
  EXPECT_THAT(p.take(answer, milliseconds(300)).wrong, HasSubstr("wrong"));
}

TEST(Challenges, WhoPassesIsKnownByTheSpeedOfItsCores) {
  PlayedMachine p;
  const auto passed = p.pass(p.first(), milliseconds(250));
  EXPECT_TRUE(passed.passed);
  EXPECT_EQ(passed.lane, milliseconds(250));
}

}  // namespace
}  // namespace souk::server
