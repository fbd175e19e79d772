#include "advisor/planners/spotdnn.h"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(SpotDnn, FindsTheKnownPlans) {
  for (const auto& known : kKnownPlans) {
    const auto out = spotdnn(must(resnet110(known.loss)), known.deadline_s);
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_EQ(*out, known.mix) << "loss " << known.loss;
  }
}

TEST(SpotDnn, BoundsAreThoseOfThePaper) {
  // b_min ((g2 b_min + g3) / (L - g5) - g1) / (v_max T) = 1,024 (2,302.8 / 0.4 - 876.5) over 2,105
  // samples/s (8,192 in 3.8917 s) x 1,900 s = 1.25.
  const auto bounds = size_bounds(must(resnet110(0.9)), 1'900);
  EXPECT_EQ(bounds.lower, 2);
  EXPECT_EQ(bounds.upper, 13);
  EXPECT_GT(size_bounds(must(resnet110(0.51)), 1'900).lower, 13);  // Nothing can be enough.
}

TEST(SpotDnn, NoMixBelowTheLowerBoundIsInTime) {
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    base::Random random(seed);
    const auto f = must(random_problem(random));
    const auto deadline_s = testing::between(random, 10, 5'000);
    const auto lower = size_bounds(f, deadline_s).lower;
    for_each_mix(f, [&](const Mix& mix) {
      if (machines_in(mix) < lower) EXPECT_GT(f.estimate(mix).time_s, deadline_s) << seed;
    });
  }
}

TEST(SpotDnn, AnImpossibleDeadlineIsToldTheTightestOfTheWindows) {
  const auto f = must(resnet110(0.9));
  const auto out = spotdnn(f, 100);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().message, "no window of machines is done in 100 s");
  EXPECT_TRUE(out.error().hint.starts_with("the tightest time is ")) << out.error().hint;
  const auto least = std::stod(out.error().hint.substr(21));
  EXPECT_TRUE(spotdnn(f, least + 0.01));
  EXPECT_FALSE(spotdnn(f, least - 0.01));
}

}  // namespace
}  // namespace souk::advisor
