#include "mechanism/schedule/max_min_las.h"

#include "mechanism/testing/instances.h"

namespace souk::mechanism {
namespace {

TEST(MaxMinLas, TheKnownAnswer) {
  const auto s = testing::known();
  const auto found = MaxMinLas().solve(s).value();
  testing::expect_fits(s, found);
  EXPECT_NEAR(found.objective, 48. / 31, 1e-9);
  EXPECT_LE(found.gap(), kExact);
  EXPECT_NEAR(found.shares[0], 13. / 31, 1e-8);
  EXPECT_NEAR(found.shares[3], 18. / 31, 1e-8);
}

TEST(MaxMinLas, NoJobCouldBeServedMoreByAnotherSolver) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto s = testing::drawn(seed, 2 + seed % 12, 3, 3);
    const auto found = MaxMinLas().solve(s).value();
    testing::expect_fits(s, found);
    EXPECT_NEAR(found.objective / testing::reference_level(s, las_levels(s)), 1, 1e-6);
    EXPECT_LE(found.gap(), kExact);
    const auto unit = las_levels(s), rates = speeds(s, found);
    for (std::size_t i = 0; i < s.jobs(); ++i)
      EXPECT_GE(rates[i] / unit[i], found.objective * (1 - 1e-12));
  }
}

TEST(MaxMinLas, EqualJobsHaveEqualShares) {
  const ScheduleInstance s{.capacity = {2, 1},
                           .throughputs = {4, 1, 4, 1, 4, 1},
                           .scale = {1, 1, 1},
                           .weights = {1, 1, 1}};
  const auto found = MaxMinLas().solve(s).value();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found.shares[i * 2], 2. / 3, 1e-6);
}

TEST(MaxMinLas, ThousandsOfJobsAreProvedBest) {
  const auto s = testing::drawn(1, 3'000, 3, 36);
  const auto found = MaxMinLas().solve(s).value();
  testing::expect_fits(s, found);
  EXPECT_LE(found.gap(), kExact);
}

}  // namespace
}  // namespace souk::mechanism
