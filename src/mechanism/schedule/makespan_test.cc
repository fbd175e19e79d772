#include "mechanism/schedule/makespan.h"

#include "mechanism/testing/instances.h"

namespace souk::mechanism {
namespace {

TEST(Makespan, TheLastJobEndsWhenAnotherSolverSays) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto s = testing::drawn(seed, 2 + seed % 12, 3, 3);
    const auto found = Makespan().solve(s).value();
    testing::expect_fits(s, found);
    EXPECT_NEAR(found.objective * testing::reference_level(s, s.steps), 1, 1e-6);
    EXPECT_LE(found.gap(), kExact);
    const auto rates = speeds(s, found);
    for (std::size_t i = 0; i < s.jobs(); ++i)
      EXPECT_LE(s.steps[i] / rates[i], found.objective * (1 + 1e-9));
  }
}

// One type, one machine, two jobs of an hour each.
TEST(Makespan, WorkThatSharesAMachineAddsUp) {
  const ScheduleInstance s{.capacity = {1},
                           .throughputs = {1, 1},
                           .scale = {1, 1},
                           .weights = {1, 1},
                           .steps = {3600, 1800}};
  const auto found = Makespan().solve(s).value();
  EXPECT_NEAR(found.objective, 5400, 1e-5);
  EXPECT_NEAR(found.prices[0], 5400, 1e-3);  // tau is 5400 / N.
}

TEST(Makespan, WithoutStepsItSaysSo) {
  const auto error = Makespan().solve(testing::known()).error();
  EXPECT_EQ(error.message, "makespan needs steps");
  EXPECT_EQ(error.field, "steps");
}

}  // namespace
}  // namespace souk::mechanism
