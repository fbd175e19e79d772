#include "mechanism/schedule/hadar.h"

#include "mechanism/testing/instances.h"

namespace souk::mechanism {
namespace {

TEST(Hadar, AJobAloneRunsOnItsFastestMachines) {
  const ScheduleInstance s{
      .capacity = {4, 4}, .throughputs = {1, 3}, .scale = {2}, .weights = {1}, .steps = {3600}};
  const auto found = Hadar().solve(s).value();
  EXPECT_EQ(found.shares, (std::vector<double>{0, 1}));
  EXPECT_GT(found.prices[1], found.prices[0]);  // In use, so dearer.
}

// Three workers, two machines of either type: the gang is spread, at the speed of the slower.
TEST(Hadar, AGangMayBeOfSeveralTypesAtOnce) {
  const ScheduleInstance s{
      .capacity = {2, 2}, .throughputs = {2, 3}, .scale = {3}, .weights = {1}, .steps = {3600}};
  const auto found = Hadar().solve(s).value();
  EXPECT_TRUE(found.at_once);
  testing::expect_fits(s, found);
  EXPECT_NEAR(found.shares[0] + found.shares[1], 1, 1e-12);
  EXPECT_GT(found.shares[0], 0);
  EXPECT_GT(found.shares[1], 0);
  EXPECT_EQ(speeds(s, found)[0], 2);
}

TEST(Hadar, GangsAreWholeAndNothingThatSomebodyCouldUseStaysIdle) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto s = testing::drawn(seed, 60, 3, 6);
    const auto found = Hadar().solve(s).value();
    testing::expect_fits(s, found);
    const auto used = machines_used(s, found.shares);
    for (std::size_t i = 0; i < s.jobs(); ++i) {
      double workers = 0, room = 0;
      for (std::size_t j = 0; j < 3; ++j) {
        workers += found.shares[i * 3 + j] * s.scale[i];
        if (s.rates(i)[j] > 0) room += s.capacity[j] - used[j];
      }
      const bool all = std::abs(workers - s.scale[i]) < 1e-9;
      EXPECT_TRUE(all || workers == 0) << "seed " << seed << " job " << i;
      EXPECT_TRUE(all || room < s.scale[i] - 1e-9) << "seed " << seed << " job " << i;
    }
  }
}

TEST(Hadar, ShortJobsGoFirst) {
  const ScheduleInstance s{.capacity = {1},
                           .throughputs = {1, 1},
                           .scale = {1, 1},
                           .weights = {1, 1},
                           .steps = {36000, 360}};
  EXPECT_EQ(Hadar().solve(s).value().shares, (std::vector<double>{0, 1}));
}

TEST(Hadar, PricesAreAtTheTopWhenAllIsTaken) {
  const auto s = testing::drawn(3, 200, 3, 6);
  const auto found = Hadar().solve(s).value();
  const auto used = machines_used(s, found.shares);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(used[j], s.capacity[j], 1e-9);
  EXPECT_NEAR(found.prices[0], found.prices[1], 1e-9);
  EXPECT_NEAR(found.prices[0], found.prices[2], 1e-9);
}

}  // namespace
}  // namespace souk::mechanism
