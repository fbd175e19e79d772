#include "mechanism/schedule/lp.h"

#include <gtest/gtest.h>

#include "mechanism/testing/instances.h"

namespace souk::mechanism {
namespace {

using testing::drawn;

TEST(SharesProgram, TheOptimumIsThatOfAnotherSolver) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto types = 1 + seed % 5;
    const auto s = drawn(seed, 1 + seed % 13, types, seed % 3 == 0 ? 1 : 4);
    const auto found = solve(level_program(s, s.weights));
    const auto expected = testing::reference_level(s, s.weights);
    EXPECT_NEAR(found.t / expected, 1, 1e-9) << "seed " << seed;
    EXPECT_LE(found.bound - found.t, 1e-9 * found.bound) << "seed " << seed;
  }
}

// Makespans: what jobs need differs by orders of magnitude, and often one job alone binds.
TEST(SharesProgram, DegenerateProgramsAreProvedToo) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto s = drawn(seed, 1 + seed, 3, seed % 5 == 0 ? 1 : 36);
    const auto found = solve(level_program(s, s.steps));
    EXPECT_LE(found.bound - found.t, 1e-9 * found.bound) << "seed " << seed;
    EXPECT_GE(found.bound - found.t, -1e-12 * found.bound) << "seed " << seed;
  }
}

TEST(SharesProgram, OneJobAloneRunsWhereItIsFastest) {
  const SharesProgram p{.jobs = 1,
                        .types = 2,
                        .rate = {3, 5},
                        .gain = {},
                        .least = {0},
                        .level = {1},
                        .scale = {2},
                        .capacity = {10, 10}};
  const auto found = solve(p);
  EXPECT_NEAR(found.t, 5, 1e-9);
  EXPECT_NEAR(found.shares[1], 1, 1e-9);
  EXPECT_NEAR(found.prices[0], 0, 1e-9);  // Nothing is short.
}

TEST(SharesProgram, PricesAreWhatAMachineMoreIsWorth) {
  auto s = drawn(7, 40, 3, 5);
  const auto found = solve(level_program(s, s.weights), 1e-12);
  for (std::size_t j = 0; j < 3; ++j) {
    auto more = s;
    more.capacity[j] += 1e-4;
    EXPECT_NEAR((solve(level_program(more, s.weights), 1e-12).t - found.t) / 1e-4, found.prices[j],
                1e-5 * found.t);
  }
}

TEST(SharesProgram, NobodyIsNoProblem) {
  const auto found = solve({.types = 3, .capacity = {1, 2, 3}});
  EXPECT_EQ(found.prices, (std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace souk::mechanism
