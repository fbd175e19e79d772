#include "server/core/challenges.h"

#include <gtest/gtest.h>

#include <set>

namespace souk::server {
namespace {

using base::hours;
using base::minutes;
using base::seconds;
using base::Time;

market::Machine machine(std::int32_t cores, std::string doubted = {}) {
  return {.id = base::MachineId(1), .spec = {.cores = cores}, .doubted = std::move(doubted)};
}

TEST(Challenges, ComeAtRandomTimesAsOftenAsAsked) {
  Challenges c(hours(1), 7);
  int asked = 0;
  std::set<std::int64_t> gaps;
  Time last;
  for (Time now; now < Time() + hours(500); now = now + minutes(1)) {
    const auto one = c.ask(machine(2), now);
    if (!one) continue;
    ++asked;
    gaps.insert((now - last).us);
    last = now;
    EXPECT_TRUE(c.take(base::MachineId(1), one->seed));
  }
  EXPECT_NEAR(asked, 500, 80);
  EXPECT_GT(gaps.size(), 100u);
}

TEST(Challenges, WhatIsAskedGrowsWithTheCoresThatAreClaimed) {
  Challenges small(seconds(1), 1), large(seconds(1), 1), huge(seconds(1), 1);
  const auto at = Time() + hours(1);
  const auto rounds = [&](Challenges& c, std::int32_t cores) {
    (void)c.ask(machine(cores), Time());
    return c.ask(machine(cores), at)->rounds;
  };
  const auto one = rounds(small, 1);
  EXPECT_NEAR(rounds(large, 4), 4 * one, 3);  // Rounded up.
  EXPECT_NEAR(rounds(huge, 1'000), 8 * one, 7);
}

TEST(Challenges, AnAnswerCountsOnceAndSilenceIsNoticed) {
  Challenges c(seconds(1), 1);
  (void)c.ask(machine(1), Time());
  const auto at = Time() + hours(1);
  const auto one = c.ask(machine(1), at);
  ASSERT_TRUE(one);
  EXPECT_FALSE(c.ask(machine(1), at + hours(1)));  // One at a time.
  EXPECT_FALSE(c.take(base::MachineId(1), one->seed + 1));
  EXPECT_FALSE(c.overdue(base::MachineId(1), at + seconds(5)));
  EXPECT_TRUE(c.overdue(base::MachineId(1), at + seconds(6)));
  EXPECT_FALSE(c.take(base::MachineId(1), one->seed));
  EXPECT_TRUE(c.ask(machine(1, "it was slow"), at + minutes(2)));
}

TEST(Challenges, ZeroMeansNever) {
  Challenges c({}, 1);
  for (int i = 0; i < 1'000; ++i) EXPECT_FALSE(c.ask(machine(1), Time() + hours(i)));
}

}  // namespace
}  // namespace souk::server
