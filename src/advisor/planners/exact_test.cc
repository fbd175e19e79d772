#include "advisor/planners/exact.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "advisor/planners/spotdnn.h"
#include "advisor/testing/forecaster.h"
#include "advisor/testing/random_problem.h"
#include "advisor/testing/resnet.h"

namespace souk::advisor {
namespace {

using testing::for_each_mix;
using testing::kKnownPlans;
using testing::must;
using testing::random_problem;
using testing::resnet110;
using namespace base::literals;

TEST(Exact, FindsTheKnownPlans) {
  for (const auto& known : kKnownPlans) {
    const auto f = must(resnet110(known.loss));
    const auto out = cheapest_plan(f, known.deadline_s);
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_TRUE(out->proved);
    EXPECT_EQ(out->mix, known.mix);
    EXPECT_NEAR(f.estimate(out->mix).cost, known.cost, 0.0001);
  }
}

struct Best {
  double cost = kUnlimited, time_s = kUnlimited;
};

// By looking at every mix.
Best exhaustive(const Forecaster& f, double deadline_s) {
  Best out;
  for_each_mix(f, [&](const Mix& mix) {
    const auto e = f.estimate(mix);
    if (std::isinf(e.time_s)) return;
    out.time_s = std::min(out.time_s, e.time_s);
    if (e.time_s <= deadline_s) out.cost = std::min(out.cost, e.cost);
  });
  return out;
}

// Deadlines around what is possible, where searches go wrong.
double some_deadline(const Forecaster& f, base::Random& random) {
  const auto least = exhaustive(f, kUnlimited).time_s;
  return std::isinf(least) ? 1'000 : least * testing::between(random, 0.9, 4);
}

TEST(Exact, NoMixOfThousandsOfProblemsIsCheaper) {
  for (std::uint64_t seed = 1; seed <= 6'000; ++seed) {
    base::Random random(seed);
    const auto f = must(random_problem(random));
    const auto deadline_s = some_deadline(f, random);
    const auto best = exhaustive(f, deadline_s);
    const auto out = cheapest_plan(f, deadline_s);
    ASSERT_EQ(out.has_value(), std::isfinite(best.cost)) << "seed " << seed;
    if (!out) continue;
    EXPECT_TRUE(out->proved);
    EXPECT_LE(f.estimate(out->mix).time_s, deadline_s) << "seed " << seed;
    EXPECT_LE(f.estimate(out->mix).cost, best.cost * (1 + 2e-9)) << "seed " << seed;
  }
}

TEST(Exact, NoMixOfThousandsOfProblemsIsFaster) {
  for (std::uint64_t seed = 1; seed <= 6'000; ++seed) {
    base::Random random(seed);
    const auto f = must(random_problem(random));
    const auto budget = exhaustive(f, kUnlimited).cost * testing::between(random, 0.9, 3);
    Best best;
    for_each_mix(f, [&](const Mix& mix) {
      const auto e = f.estimate(mix);
      if (e.cost <= budget) best.time_s = std::min(best.time_s, e.time_s);
    });
    const auto out = fastest_plan(f, budget);
    ASSERT_EQ(out.has_value(), std::isfinite(best.time_s)) << "seed " << seed;
    if (!out) continue;
    EXPECT_LE(f.estimate(out->mix).cost, budget) << "seed " << seed;
    EXPECT_DOUBLE_EQ(f.estimate(out->mix).time_s, best.time_s) << "seed " << seed;
  }
}

TEST(Exact, IsNeverDearerThanTheWindow) {
  int cheaper = 0, compared = 0;
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    base::Random random(seed);
    const auto f = must(random_problem(random, 6, 6));
    const auto fastest = fastest_plan(f, kUnlimited);
    if (!fastest) continue;
    const auto deadline_s = f.estimate(fastest->mix).time_s * testing::between(random, 1, 4);
    const auto window = spotdnn(f, deadline_s);
    if (!window) continue;
    const auto out = cheapest_plan(f, deadline_s);
    ASSERT_TRUE(out) << "seed " << seed;
    const auto ours = f.estimate(out->mix).cost, theirs = f.estimate(*window).cost;
    EXPECT_LE(ours, theirs * (1 + 2e-9)) << "seed " << seed;
    ++compared;
    cheaper += ours < theirs * (1 - 1e-6) ? 1 : 0;
  }
  EXPECT_GT(compared, 500);
  EXPECT_GT(cheaper, 0);  // Or the window would do.
}

TEST(Exact, OfEqualCostTheFastest) {
  // Perfect scaling: every number of machines costs the same.
  const auto f = must({.types = {{.name = "box", .quota = 7, .price = 1_cr, .compute_s = 1}},
                       .work = Iterations{7'000}});
  EXPECT_EQ(cheapest_plan(f, kUnlimited)->mix, (Mix{7}));
}

TEST(Exact, AnImpossibleDeadlineIsToldTheTightest) {
  const auto f = must(resnet110(0.9));
  const auto out = cheapest_plan(f, 100);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().message, "no mix of these machines is done in 100 s");
  const auto least = exhaustive(f, kUnlimited).time_s;
  EXPECT_TRUE(out.error().hint.starts_with(fmt::format("the tightest time is {:.2f} s", least)))
      << out.error().hint;
  EXPECT_TRUE(cheapest_plan(f, least));
}

TEST(Exact, AnImpossibleBudgetIsToldTheLeast) {
  const auto f = must(resnet110(0.9));
  const auto out = fastest_plan(f, 0.1);
  ASSERT_FALSE(out);
  const auto least = exhaustive(f, kUnlimited).cost;
  EXPECT_TRUE(out.error().hint.starts_with(fmt::format("the least is {:.4f}", least)))
      << out.error().hint;
}

TEST(Exact, ASearchThatIsCutOffSaysSo) {
  const auto f = must(resnet110(0.8));
  const auto out = cheapest_plan(f, 2'400, {.nodes = 20});
  EXPECT_TRUE(!out || !out->proved);
}

}  // namespace
}  // namespace souk::advisor
