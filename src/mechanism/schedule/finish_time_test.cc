#include "mechanism/schedule/finish_time.h"

#include "mechanism/testing/instances.h"

namespace souk::mechanism {
namespace {

// By bisection with another solver: can all have the steps a second that `rho` takes?
double reference_rho(const ScheduleInstance& s) {
  const auto alone = isolated_rates(s);
  double low = 0, high = 1e6;
  for (std::size_t i = 0; i < s.jobs(); ++i)
    low = std::max(low, s.elapsed[i] / (s.isolated[i] + s.steps[i] / alone[i]));
  low *= 1 + 1e-9;
  for (int k = 0; k < 100 && high - low > 1e-10 * high; ++k) {
    const auto rho = (low + high) / 2;
    std::vector<double> needs;
    for (std::size_t i = 0; i < s.jobs(); ++i)
      needs.push_back(s.steps[i] / (rho * (s.isolated[i] + s.steps[i] / alone[i]) - s.elapsed[i]));
    (testing::reference_level(s, needs) >= 1 ? high : low) = rho;
  }
  return high;
}

TEST(FinishTime, TheWorstRhoIsThatOfBisection) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto s = testing::drawn(seed, 2 + seed % 9, 3, 3);
    const auto found = FinishTime().solve(s).value();
    testing::expect_fits(s, found);
    EXPECT_NEAR(found.objective / reference_rho(s), 1, 1e-6) << "seed " << seed;
    EXPECT_LE(found.gap(), kExact) << "seed " << seed;
  }
}

// Sharing is never worse than walls.
TEST(FinishTime, NewJobsAreNoWorseOffThanAlone) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto s = testing::drawn(seed, 50, 3, 10);
    s.elapsed.clear();
    s.isolated.clear();
    const auto found = FinishTime().solve(s).value();
    EXPECT_LE(found.objective, 1 + 1e-9);
    EXPECT_LE(found.gap(), kExact) << "seed " << seed;
  }
}

TEST(FinishTime, ManyJobsAreProvedBest) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto s = testing::drawn(seed, 500, 3, 36);
    const auto found = FinishTime().solve(s).value();
    testing::expect_fits(s, found);
    EXPECT_LE(found.gap(), kExact) << "seed " << seed;
  }
}

TEST(FinishTime, NearIsNear) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto s = testing::drawn(seed, 500, 3, 36);
    const auto best = FinishTime().solve(s).value();
    const auto found = FinishTime(Precision::near).solve(s).value();
    testing::expect_fits(s, found);
    EXPECT_LE(found.objective, best.objective * 1.02) << "seed " << seed;
    EXPECT_GE(found.objective, best.objective * (1 - 1e-9)) << "seed " << seed;
  }
}

// Who has waited for long is far from where its tangent is exact.
TEST(FinishTime, LongWaitsAreProvedBestToo) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto s = testing::drawn(seed, 100, 3, 10);
    for (auto& e : s.elapsed) e *= 1000;
    const auto found = FinishTime().solve(s).value();
    testing::expect_fits(s, found);
    EXPECT_LE(found.gap(), kExact) << "seed " << seed;
  }
}

TEST(FinishTime, PricesAreWhatAMachineMoreIsWorth) {
  auto s = testing::drawn(7, 40, 3, 5);
  const auto found = FinishTime().solve(s).value();
  for (std::size_t j = 0; j < 3; ++j) {
    auto more = s;
    more.capacity[j] += 1e-3;
    // An equal part is larger too: hold it where it was.
    const auto before = isolated_rates(s), after = isolated_rates(more);
    for (std::size_t i = 0; i < s.jobs(); ++i)
      more.isolated[i] += s.steps[i] * (1 / before[i] - 1 / after[i]);
    const auto saved = (found.objective - FinishTime().solve(more).value().objective) / 1e-3;
    EXPECT_NEAR(saved, found.prices[j], 1e-3 * found.objective) << "type " << j;
  }
}

TEST(FinishTime, WithoutStepsItSaysSo) {
  EXPECT_EQ(FinishTime().solve(testing::known()).error().message, "ftf needs steps");
}

}  // namespace
}  // namespace souk::mechanism
