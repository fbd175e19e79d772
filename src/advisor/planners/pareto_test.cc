#include "advisor/planners/pareto.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "advisor/testing/forecaster.h"
#include "advisor/testing/random_problem.h"
#include "advisor/testing/resnet.h"

namespace souk::advisor {
namespace {

using testing::for_each_mix;
using testing::must;
using testing::random_problem;
using testing::resnet110;
using namespace base::literals;

TEST(Pareto, EveryMixIsBeatenOrOnTheFront) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    base::Random random(seed);
    const auto f = must(random_problem(random));
    const std::optional<double> deadline_s =
        seed % 2 == 0 ? std::optional(testing::between(random, 10, 3'000)) : std::nullopt;
    const auto front = pareto(f, deadline_s);
    if (!front) continue;  // A curve that covers nothing.
    EXPECT_TRUE(front->complete);
    double mixes = 0;
    for_each_mix(f, [&](const Mix& mix) {
      ++mixes;
      const auto e = f.estimate(mix);
      if (std::isinf(e.time_s)) return;
      const auto chance = deadline_s ? f.chance(mix, *deadline_s) : 1;
      const bool matched = std::ranges::any_of(front->plans, [&](const Forecast& p) {
        return p.estimate.time_s <= e.time_s && p.estimate.cost <= e.cost &&
               p.chance.value_or(1) >= chance - kSameChance;
      });
      EXPECT_TRUE(matched) << "seed " << seed;
    });
    EXPECT_EQ(front->mixes, mixes);
  }
}

TEST(Pareto, NobodyOnTheFrontIsBeaten) {
  const auto f = must(resnet110(0.8));
  const auto front = pareto(f);
  ASSERT_TRUE(front);
  ASSERT_GT(front->plans.size(), 3u);
  for (std::size_t i = 1; i < front->plans.size(); ++i) {
    EXPECT_GE(front->plans[i].estimate.time_s, front->plans[i - 1].estimate.time_s);
    EXPECT_LT(front->plans[i].estimate.cost, front->plans[i - 1].estimate.cost);
  }
}

// A cheap machine that leaves all the time beside a dear one that stays.
TEST(Pareto, ASaferPlanIsKeptThoughAnotherIsFasterAndCheaper) {
  Problem p{.types = {{.name = "spot", .quota = 1, .price = 0.3_cr, .compute_s = 1},
                      {.name = "kept", .quota = 1, .price = 1_cr, .compute_s = 1.01}},
            .hub = {.folds_per_s = 1},  // So that both at once are no way out.
            .work = Iterations{3'600},
            .recovery = {.interval_s = 1, .restart_s = 300}};
  p.types[0].revocations_per_hour = 0.01;
  p.types[0].residuals.assign(1'000, 0);
  p.types[1].residuals.assign(1'000, 0);
  const auto front = pareto(must(p), 3'800);
  ASSERT_TRUE(front);
  const auto has = [&](const Mix& mix) {
    return std::ranges::any_of(front->plans, [&](const Forecast& x) { return x.mix == mix; });
  };
  EXPECT_TRUE(has({1, 0}));
  EXPECT_TRUE(has({0, 1}));
}

TEST(Pareto, TooManyMixesAreSearchedRatherThanListed) {
  auto p = resnet110(0.8);
  p.hub = {};
  for (auto& type : p.types) type.quota = 60;
  p.types[1].revocations_per_hour = 0.5;
  p.recovery = {.interval_s = 60, .restart_s = 60};
  const auto f = must(p);
  const auto front = pareto(f, 3'000);
  ASSERT_TRUE(front);
  EXPECT_FALSE(front->complete);
  EXPECT_GT(front->mixes, 8e8);
  EXPECT_EQ(front->plans.front().mix, fastest_plan(f, kUnlimited)->mix);
  EXPECT_EQ(front->plans.back().mix, cheapest_plan(f, kUnlimited)->mix);
}

}  // namespace
}  // namespace souk::advisor
