#include "mechanism/schedule/discover.h"

#include "mechanism/testing/instances.h"

namespace souk::mechanism {
namespace {

// Rows that ask for something of their own, or for less than the level does: what ftf's tangents
// look like.
SharesProgram tangents(std::uint64_t seed, std::size_t jobs) {
  const auto s = testing::drawn(seed, jobs, 3, 20);
  auto program = level_program(s, s.weights);
  base::Random random(seed);
  for (std::size_t i = 0; i < jobs; ++i) program.least[i] = -.2 * random.unit() * s.weights[i];
  return program;
}

TEST(Discover, TheBoundIsABoundAndTheSharesAreNear) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto program = tangents(seed, 300);
    const auto best = solve(program);
    EXPECT_LE(best.bound - best.t, 1e-9 * best.bound) << "seed " << seed;
    const auto found = discover(program);
    EXPECT_GE(found.bound, best.t * (1 - 1e-9)) << "seed " << seed;
    EXPECT_LE(found.t, best.bound * (1 + 1e-9)) << "seed " << seed;
    EXPECT_GE(found.t, best.t * .995) << "seed " << seed;
  }
}

TEST(Discover, WhoAsksForNothingGetsNothing) {
  const SharesProgram program{.jobs = 2,
                              .types = 1,
                              .rate = {1, 1},
                              .gain = {},
                              .least = {-9, 0},
                              .level = {1, 1},
                              .scale = {1, 1},
                              .capacity = {1}};
  const auto found = discover(program);
  EXPECT_EQ(found.shares[0], 0);
  EXPECT_NEAR(found.t, 1, 1e-9);
}

TEST(Discover, NobodyIsNoProblem) {
  EXPECT_EQ(discover({.types = 2, .capacity = {1, 2}}).prices, (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace souk::mechanism
