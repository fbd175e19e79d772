#include "mechanism/schedule/fifo_greedy.h"

#include "mechanism/testing/instances.h"

namespace souk::mechanism {
namespace {

using Choice = FifoGreedy::Choice;

// Two fast machines, three slow ones; the third job wants two.
ScheduleInstance line() {
  return {.capacity = {2, 3},
          .throughputs = {4, 1, 4, 1, 4, 1, 4, 1, 4, 1},
          .scale = {1, 1, 2, 2, 1},
          .weights = {1, 1, 1, 1, 1}};
}

TEST(FifoGreedy, TheFirstTakeTheFastAndNobodyIsOvertaken) {
  const auto found = FifoGreedy(Choice::fastest).solve(line()).value();
  testing::expect_fits(line(), found);
  // The fourth job finds one slow machine and wants two: the fifth waits behind it.
  EXPECT_EQ(found.shares, (std::vector<double>{1, 0, 1, 0, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(found.objective, 3);
  EXPECT_EQ(found.prices, (std::vector<double>{0, 0}));
}

TEST(FifoGreedy, AnyMachineIsTheOneWithMostRoom) {
  const auto found = FifoGreedy(Choice::any).solve(line()).value();
  EXPECT_EQ(found.shares, (std::vector<double>{0, 1, 1, 0, 0, 1, 0, 0, 0, 0}));
}

TEST(FifoGreedy, WhoRunsMovesOnlyIfMachinesDiffer) {
  auto s = line();
  s.held = {-1, 1, -1, 0, -1};
  const auto stays = FifoGreedy(Choice::any).solve(s).value();
  EXPECT_EQ(stays.shares, (std::vector<double>{0, 1, 0, 1, 0, 0, 1, 0, 0, 0}));
  const auto moves = FifoGreedy(Choice::fastest).solve(s).value();
  EXPECT_EQ(moves.shares, FifoGreedy(Choice::fastest).solve(line()).value().shares);
}

TEST(FifoGreedy, AJobTooLargeForTheClusterStopsTheLine) {
  const ScheduleInstance s{
      .capacity = {1}, .throughputs = {1, 1}, .scale = {2, 1}, .weights = {1, 1}};
  EXPECT_EQ(FifoGreedy(Choice::fastest).solve(s).value().objective, 0);
}

}  // namespace
}  // namespace souk::mechanism
