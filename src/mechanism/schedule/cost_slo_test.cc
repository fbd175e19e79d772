#include "mechanism/schedule/cost_slo.h"

#include "mechanism/testing/instances.h"

namespace souk::mechanism {
namespace {

// Steps a second per unit of cost, by another solver. Without SLOs.
double reference_gain(const ScheduleInstance& s) {
  const auto m = s.types(), n = s.jobs();
  std::vector<std::vector<double>> a;
  std::vector<double> b, c(n * m);
  for (std::size_t ij = 0; ij < n * m; ++ij) c[ij] = s.throughputs[ij] / s.cost[ij % m];
  for (std::size_t i = 0; i < n; ++i) {
    auto& row = a.emplace_back(n * m, 0);
    for (std::size_t j = 0; j < m; ++j) row[i * m + j] = 1;
    b.push_back(1);
  }
  for (std::size_t j = 0; j < m; ++j) {
    auto& row = a.emplace_back(n * m, 0);
    for (std::size_t i = 0; i < n; ++i) row[i * m + j] = s.scale[i];
    b.push_back(s.capacity[j]);
  }
  return testing::dense_simplex(a, b, c).value();
}

TEST(CostSlo, MoneyBuysAsMuchAsAnotherSolverFinds) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto s = testing::drawn(seed, 2 + seed % 12, 3, 3);
    s.cost = {2.5, 1.5, .5};
    const auto found = CostSlo().solve(s).value();
    testing::expect_fits(s, found);
    EXPECT_NEAR(found.objective / reference_gain(s), 1, 1e-6) << "seed " << seed;
    EXPECT_LE(found.gap(), kExact) << "seed " << seed;
  }
}

// The cheap type would do all the work; the SLO needs the dear one for a third of the time.
TEST(CostSlo, AnSloIsMetWithTheDearMachinesItNeeds) {
  const ScheduleInstance s{.capacity = {1, 1},
                           .throughputs = {4, 1},
                           .scale = {1},
                           .weights = {1},
                           .steps = {7200},
                           .slo = {3600},
                           .cost = {10, 1}};
  const auto found = CostSlo().solve(s).value();
  EXPECT_NEAR(found.shares[0], 1. / 3, 1e-8);
  EXPECT_NEAR(found.shares[1], 2. / 3, 1e-8);
  EXPECT_NEAR(found.objective, .4 / 3 + 2. / 3, 1e-8);
}

TEST(CostSlo, EverySloIsMet) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto s = testing::drawn(seed, 60, 3, 20);
    s.cost = {2.5, 1.5, .5};
    s.slo.resize(60);
    const auto fair = isolated_rates(s);  // Which all can have at once.
    for (std::size_t i = 0; i < 60; ++i) s.slo[i] = i % 3 == 0 ? 0 : s.steps[i] / fair[i] * 1.01;
    const auto found = CostSlo().solve(s).value();
    testing::expect_fits(s, found);
    EXPECT_LE(found.gap(), kExact) << "seed " << seed;
    const auto rates = speeds(s, found);
    for (std::size_t i = 0; i < 60; ++i)
      if (s.slo[i] > 0) {
        EXPECT_LE(s.steps[i] / rates[i], s.slo[i] * (1 + 1e-9));
      }
  }
}

TEST(CostSlo, SlosThatCannotBeMetSayHowMuchLongerTheyMustBe) {
  ScheduleInstance s{.capacity = {1},
                     .throughputs = {1, 1},
                     .scale = {1, 1},
                     .weights = {1, 1},
                     .steps = {3600, 3600},
                     .slo = {3600, 3600},
                     .cost = {1}};
  const auto refused = CostSlo().solve(s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().hint, "if each had 2 times as long they could");
  s.slo = {7200 * (1 + 1e-8), 7200 * (1 + 1e-8)};
  EXPECT_TRUE(CostSlo().solve(s));
}

TEST(CostSlo, WhatIsMissingIsNamed) {
  auto s = testing::known();
  EXPECT_EQ(CostSlo().solve(s).error().field, "cost");
  s.cost = {1, 1, 1};
  s.slo = {1, 1};
  EXPECT_EQ(CostSlo().solve(s).error().field, "steps");
}

TEST(CostSlo, StretchedSlosAreMissedByTheSameShare) {
  ScheduleInstance s{.capacity = {1},
                     .throughputs = {1, 1},
                     .scale = {1, 1},
                     .weights = {1, 1},
                     .steps = {3600, 3600},
                     .slo = {3600, 1800},
                     .cost = {1}};
  const auto found = CostSlo(CostSlo::Slos::stretched).solve(s).value();
  EXPECT_NEAR(found.shares[0], 1. / 3, 1e-5);
  EXPECT_NEAR(found.shares[1], 2. / 3, 1e-5);
}

}  // namespace
}  // namespace souk::mechanism
