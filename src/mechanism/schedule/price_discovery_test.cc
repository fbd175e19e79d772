#include "mechanism/schedule/price_discovery.h"

#include "mechanism/schedule/max_min_las.h"
#include "mechanism/testing/instances.h"

namespace souk::mechanism {
namespace {

TEST(PriceDiscovery, TheBoundIsABoundAndTheScheduleIsNear) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto s = testing::drawn(seed, 500, 2 + seed % 4, 36);
    const auto best = MaxMinLas().solve(s).value();
    const auto found = PriceDiscovery().solve(s).value();
    testing::expect_fits(s, found);
    EXPECT_GE(found.bound, best.objective * (1 - 1e-9)) << "seed " << seed;
    EXPECT_LE(found.objective, best.bound * (1 + 1e-9)) << "seed " << seed;
    EXPECT_GE(found.objective, best.objective * .995) << "seed " << seed;
  }
}

TEST(PriceDiscovery, PricesAreThoseOfTheExactProgram) {
  const auto s = testing::drawn(4, 5'000, 3, 36);
  const auto best = MaxMinLas().solve(s).value();
  const auto found = PriceDiscovery(1e-4, 2'000).solve(s).value();
  for (std::size_t j = 0; j < 3; ++j)
    EXPECT_NEAR(found.prices[j] / best.prices[j], 1, .05) << "type " << j;
}

TEST(PriceDiscovery, WithMachinesForAllTheyCostNothing) {
  const ScheduleInstance s{
      .capacity = {10, 10}, .throughputs = {4, 1, 2, 3}, .scale = {1, 1}, .weights = {1, 1}};
  const auto found = PriceDiscovery().solve(s).value();
  EXPECT_NEAR(found.objective, MaxMinLas().solve(s).value().objective, .01);
  EXPECT_EQ(found.prices, (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace souk::mechanism
