#include "train/units/round_clock.h"

#include <gtest/gtest.h>

namespace souk::train {
namespace {

using base::milliseconds;
using base::Time;

using Pace = RoundClock::Pace;
using Member = RoundClock::Member;

// Of which is known that it takes so long.
Member member(double step_s, double exchange_s = 0) {
  Member out;
  out.pace = {step_s, exchange_s};
  return out;
}

TEST(RoundClock, ARoundHasTimeForTheMachinesThatDoMostOfTheWork) {
  const RoundClock chosen;
  // Two of speed 1, two of a half, two of a quarter: the last do a seventh of the work.
  const std::vector<Pace> unequal{{0.25}, {1}, {0.25}, {0.5}, {1}, {0.5}};
  EXPECT_EQ(chosen.length(unequal), milliseconds(500));
  EXPECT_EQ(chosen.length(std::vector<Pace>{{0.9}, {1.8}}), milliseconds(1'800));
  EXPECT_EQ(chosen.length(std::vector<Pace>{{0.1, 0.4}, {0.1, 0.6}, {0.1, 9}}), milliseconds(1'200))
      << "twice what an exchange takes on the usual line";
  EXPECT_EQ(RoundClock(2).length(unequal), base::seconds(2)) << "as the job says";
}

TEST(RoundClock, RoundsOfQuickStepsAreShortAsLongAsTheLineIsQuickToo) {
  const RoundClock chosen;
  EXPECT_EQ(chosen.length({}), milliseconds(50)) << "nothing is known yet";
  EXPECT_EQ(chosen.length(std::vector<Pace>{{0.02}, {0.03}}), milliseconds(80));
  EXPECT_EQ(chosen.length(std::vector<Pace>{{0.02, 0.03}, {0.03, 0.03}}), milliseconds(300));
  EXPECT_EQ(chosen.length(std::vector<Pace>(40)), milliseconds(200)) << "the market counts units";
}

TEST(RoundClock, EachDoesWhatItHasTimeForAndWhatIsLeftOverCounts) {
  RoundClock clock(1);
  const Time began{1'000'000};
  clock.begin(began, {});
  EXPECT_EQ(clock.over(), began + base::seconds(1));
  auto m = member(0.3, 0.1);
  EXPECT_EQ(clock.steps(m, began), 3);
  EXPECT_EQ(clock.steps(m, began + milliseconds(400)), 1) << "it came later";
  auto half = member(0.4);
  std::int64_t all = 0;
  for (int i = 0; i < 10; ++i) all += clock.steps(half, began);
  EXPECT_EQ(all, 25) << "two and a half in each";
}

TEST(RoundClock, WhoIsALittleLateIsWaitedForAndWhoCannotBeInTimeIsNot) {
  RoundClock clock(1);
  const Time began{1'000'000};
  clock.begin(began, {});
  EXPECT_EQ(clock.late({}), base::kNever) << "nothing is known of anybody";
  clock.begin(began, std::vector<Pace>{{0.1}, {}});
  EXPECT_EQ(clock.late({0.1}), began + milliseconds(1'250));
  EXPECT_EQ(clock.late({}), began + base::seconds(8));
  Member unknown;
  auto slow = member(1.2), slower = member(1.3);
  EXPECT_EQ(clock.steps(unknown, began), 1);
  EXPECT_EQ(clock.steps(slow, began), 1);
  EXPECT_EQ(clock.steps(slower, began), 0);
  EXPECT_TRUE(slower.had_turn);
  int rounds = 1;
  while (clock.steps(slower, began) == 0) ++rounds;
  EXPECT_EQ(rounds, 15) << "its speed may have changed: it is tried again";
}

// It may say what it likes of its pace: who takes much and answers nothing is given less and less.
TEST(RoundClock, WhoIsLateGetsHalfAsMuchUntilItIsInTime) {
  RoundClock clock(1);
  const Time began{1'000'000};
  const std::vector<Pace> known{{0.01}};
  clock.begin(began, known);
  auto m = member(0.01);
  const auto turn = [&] {
    m.pace = {0.01, 0};
    const auto steps = clock.steps(m, began);
    if (steps > 0) m.gave(steps);
    return steps;
  };
  for (const int most : {100, 50, 25, 12, 6, 3, 1}) {
    EXPECT_EQ(turn(), most);
    m.late(milliseconds(1'250));
  }
  for (int i = 0; i < 16; ++i) EXPECT_EQ(turn(), 0) << i;
  for (const int most : {1, 2, 4, 8}) {
    EXPECT_EQ(turn(), most);
    m.in_time();
  }
}

// As it asks for a unit while it computes another, it says where it waited before it says what it
// has computed.
TEST(RoundClock, AWorkersPaceIsLearntFromWhatItSays) {
  Member m;
  const auto did = [&](std::int64_t steps, int ms, int waited) {
    m.gave(steps);
    m.measured({}, milliseconds(waited));
    m.measured(milliseconds(ms), {});
  };
  did(1, 900, 20'000);
  EXPECT_EQ(m.pace.step_s, 0) << "it began";
  did(4, 400, 40);
  EXPECT_DOUBLE_EQ(m.pace.step_s, 0.1);
  EXPECT_DOUBLE_EQ(m.pace.exchange_s, 0.04);
  did(5, 1'500, 80);
  EXPECT_DOUBLE_EQ(m.pace.step_s, 0.2);
  EXPECT_DOUBLE_EQ(m.pace.exchange_s, 0.05) << "once long is not always";
  did(5, 1'000, 10);
  EXPECT_DOUBLE_EQ(m.pace.exchange_s, 0.01);
  m.measured(milliseconds(100), {});
  EXPECT_DOUBLE_EQ(m.pace.step_s, 0.2) << "it was given nothing";
}

}  // namespace
}  // namespace souk::train
