#include "advisor/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "advisor/testing/random_problem.h"

namespace souk::advisor {
namespace {

const Traffic kTraffic{.model_mb = 11.5, .request_mb_s = 600};

TEST(Profile, ContentionIsFoundAgain) {
  std::vector<NetworkSample> samples{{1, 600}};  // Alone: no contention.
  for (const auto n : {4, 6, 9}) {
    const auto p = 0.3 * std::sqrt(n) - 0.2;
    samples.push_back({n, p * 1'200 / n + (1 - p) * 600});
  }
  const auto out = fit_contention({.bandwidth_mb_s = 1'200}, kTraffic, samples);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_NEAR(out->contention_slope, 0.3, 1e-9);
  EXPECT_NEAR(out->contention_base, -0.2, 1e-9);
  EXPECT_EQ(out->bandwidth_mb_s, 1'200);
}

TEST(Profile, OneSizeOfClusterSaysTooLittleAboutContention) {
  const std::vector<NetworkSample> samples{{4, 400}, {4, 410}, {1, 600}};
  const auto out = fit_contention({.bandwidth_mb_s = 1'200}, kTraffic, samples);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().message, "2 of 3 samples tell of contention, of too few sizes");
}

std::vector<LossSample> course(const Convergence& g, double noise, base::Random& random) {
  std::vector<LossSample> out;
  struct Cluster {
    std::int32_t machines;
    double batch, r;
  };
  for (const auto& c : {Cluster{2, 512, 0.5}, Cluster{4, 1'024, 0.87}, Cluster{7, 2'048, 0.6}})
    for (double j = 50; j <= 3'000; j += 50) {
      const auto spread = g.g4 ? c.r + *g.g4 : 1;
      const auto loss =
          (g.g2 * c.batch + g.g3) * std::sqrt(spread * c.machines) / (j + g.g1) + g.g5;
      out.push_back(
          {j, c.machines, c.batch, c.r, loss * (1 + noise * testing::between(random, -1, 1))});
    }
  return out;
}

double worst_error(const Convergence& fitted, std::span<const LossSample> truth) {
  double out = 0;
  for (const auto& s : truth) {
    const auto spread = fitted.g4 ? s.heterogeneity + *fitted.g4 : 1;
    const auto loss = (fitted.g2 * s.batch + fitted.g3) * std::sqrt(spread * s.machines) /
                          (s.iterations + fitted.g1) +
                      fitted.g5;
    out = std::max(out, std::abs(loss / s.loss - 1));
  }
  return out;
}

TEST(Profile, TheLossCurveIsFoundAgain) {
  base::Random random(1);
  const Convergence truth{.g1 = 876.5, .g2 = -0.2, .g3 = 2'507.6, .g5 = 0.5};
  const auto out = fit_convergence(course(truth, 0, random), false);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_NEAR(out->g1, 876.5, 1);
  EXPECT_NEAR(out->g2, -0.2, 0.001);
  EXPECT_NEAR(out->g3, 2'507.6, 3);
  EXPECT_FALSE(out->g4);
  EXPECT_NEAR(out->g5, 0.5, 0.001);
}

TEST(Profile, TheTermForUnequalMachinesIsFoundAgain) {
  base::Random random(1);
  const Convergence truth{.g1 = 400, .g2 = -0.3, .g3 = 2'000, .g4 = 0.25, .g5 = 0.4};
  const auto samples = course(truth, 0, random);
  const auto out = fit_convergence(samples, true);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_LT(worst_error(*out, samples), 1e-3);
  EXPECT_NEAR(*out->g4, 0.25, 0.02);
}

TEST(Profile, NoiseIsAveragedOut) {
  base::Random random(2);
  const Convergence truth{.g1 = 876.5, .g2 = -0.2, .g3 = 2'507.6, .g5 = 0.5};
  const auto out = fit_convergence(course(truth, 0.02, random), false);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_LT(worst_error(*out, course(truth, 0, random)), 0.02);
}

TEST(Profile, NothingIsClaimedAboutBatchesThatWereNeverTried) {
  std::vector<LossSample> samples;
  for (double j = 100; j <= 1'000; j += 100) samples.push_back({j, 2, 64, 0.7, 100 / j + 0.3});
  const auto out = fit_convergence(samples, false);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->g2, 0);
  EXPECT_LT(worst_error(*out, samples), 0.01);
}

TEST(Profile, LossesThatTellNothingAreRefused) {
  const std::vector<LossSample> few(5, {1, 1, 1, 0, 1});
  EXPECT_EQ(fit_convergence(few, false).error().message, "5 losses are too few for a curve");
  std::vector<LossSample> rising;
  for (double j = 1; j <= 10; ++j) rising.push_back({j, 1, 64, 0, j});
  EXPECT_EQ(fit_convergence(rising, false).error().message, "no curve falls through these losses");
  const std::vector<LossSample> bad(6, {0, 1, 1, 0, 1});
  EXPECT_FALSE(fit_convergence(bad, false));
}

}  // namespace
}  // namespace souk::advisor
