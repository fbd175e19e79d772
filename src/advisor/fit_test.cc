#include "advisor/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "advisor/testing/resnet.h"
#include "base/random.h"

namespace souk::advisor {
namespace {

using ::testing::HasSubstr;

// Normal enough, with a deviation of 1.
double noise(base::Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.unit();
  return sum;
}

template <class T>
std::string said(const Result<T>& result) {
  return result ? "nothing" : result.error().message + " / " + result.error().hint;
}

// --- One curve --------------------------------------------------------------------------------

std::vector<CurvePoint> points_of(const Saturating& curve, int count, double step,
                                  double relative_noise = 0, std::uint64_t seed = 1) {
  base::Random random(seed);
  std::vector<CurvePoint> out;
  for (int i = 1; i <= count; ++i)
    out.push_back({i * step, curve.at(i * step) * (1 + relative_noise * noise(random))});
  return out;
}

TEST(FitSaturating, GivesBackTheCurveThatPointsLieOn) {
  for (const auto& known : {Saturating{.end = 0.98, .scale = 900, .shift = 1'500},
                            Saturating{.end = 0.5, .scale = -4'600, .shift = 876.5},
                            Saturating{.end = 0.9, .scale = 3, .shift = 0.001}}) {
    const auto out = fit_saturating(points_of(known, 12, 700));
    ASSERT_TRUE(out) << said(out);
    EXPECT_NEAR(out->end, known.end, 1e-4 * std::abs(known.end));
    EXPECT_NEAR(out->scale, known.scale, 1e-3 * std::abs(known.scale));
    EXPECT_NEAR(out->at(5'000), known.at(5'000), 1e-6);
    EXPECT_LT(out->rms, 1e-6);
  }
}

TEST(FitSaturating, SaysWhereATargetIsReachedAndThatSomeNeverAre) {
  const Saturating rising{.end = 0.98, .scale = 900, .shift = 1'500};
  EXPECT_NEAR(*rising.reaches(0.9), 900 / 0.08 - 1'500, 1e-6);
  EXPECT_NEAR(rising.at(*rising.reaches(0.97)), 0.97, 1e-12);
  EXPECT_EQ(rising.reaches(0.1), 0);  // It begins above.
  EXPECT_FALSE(rising.reaches(0.98));
  EXPECT_FALSE(rising.reaches(0.99));
  const Saturating falling{.end = 0.5, .scale = -4'600, .shift = 876.5};
  EXPECT_NEAR(falling.at(*falling.reaches(0.9)), 0.9, 1e-12);
  EXPECT_EQ(falling.reaches(100), 0);
  EXPECT_FALSE(falling.reaches(0.5));
  EXPECT_FALSE(falling.reaches(0.4));
}

TEST(FitSaturating, NoiseOfAnAccuracyMovesItLittle) {
  const Saturating known{.end = 0.98, .scale = 9'000, .shift = 15'000};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto out = fit_saturating(points_of(known, 40, 5'000, 0.01, seed));
    ASSERT_TRUE(out) << said(out);
    EXPECT_NEAR(out->end, known.end, 0.01) << seed;
    EXPECT_NEAR(*out->reaches(0.93), *known.reaches(0.93), 0.15 * *known.reaches(0.93)) << seed;
    EXPECT_NEAR(out->rms, 0.0095, 0.005) << seed;
  }
}

TEST(FitSaturating, SpikesDoNotBendIt) {
  const Saturating known{.end = 0.5, .scale = -4'600, .shift = 876.5};
  auto points = points_of(known, 40, 500, 0.01);
  for (const std::size_t i : {7u, 20u, 33u}) points[i].y *= 3;
  const auto out = fit_saturating(points);
  ASSERT_TRUE(out) << said(out);
  EXPECT_NEAR(out->end, known.end, 0.02);
  EXPECT_NEAR(out->at(10'000), known.at(10'000), 0.01);
}

TEST(FitSaturating, SamePointsSameCurve) {
  const auto points = points_of({.end = 0.98, .scale = 900, .shift = 1'500}, 30, 300, 0.05);
  const auto one = fit_saturating(points), other = fit_saturating(points);
  EXPECT_EQ(one->end, other->end);
  EXPECT_EQ(one->scale, other->scale);
  EXPECT_EQ(one->shift, other->shift);
}

TEST(FitSaturating, PointsThatSayNothingAreRefused) {
  const auto message = [](std::vector<CurvePoint> points) { return said(fit_saturating(points)); };
  EXPECT_THAT(message({}), HasSubstr("0 points / a curve takes at least 4"));
  EXPECT_THAT(message({{1, 1}, {2, 2}, {3, 2.5}}), HasSubstr("3 points"));
  EXPECT_THAT(message({{1, 1}, {2, 2}, {2, 2.5}, {1, 1}}), HasSubstr("2 different x"));
  EXPECT_THAT(message({{1, 1}, {2, 2}, {-3, 2.5}, {4, 1}}), HasSubstr("point 3 has -3 as its x"));
  EXPECT_THAT(message({{1, 1}, {2, 2}, {3, std::nan("")}, {4, 1}}), HasSubstr("point 3 has nan"));
  EXPECT_THAT(message({{1, 5}, {2, 5}, {3, 5}, {4, 5}}), HasSubstr("neither rise nor fall"));
  EXPECT_THAT(message({{1, 1}, {2, 0}, {3, 1}, {4, 0}, {5, 1}, {6, 0}}),
              HasSubstr("neither rise nor fall more than they scatter"));
  EXPECT_THAT(message({{1, 1}, {2, 2}, {3, 3}, {4, 4}}), HasSubstr("the points do not bend"));
  EXPECT_THAT(message({{1, 1}, {2, 4}, {3, 9}, {4, 16}}), HasSubstr("the points do not bend"));
  EXPECT_THAT(message(std::vector<CurvePoint>(kMostPoints + 1)), HasSubstr("at most 20000"));
}

// --- Losses -----------------------------------------------------------------------------------

// The parameters that spotDNN's authors published for ResNet-110.
Convergence resnet() { return std::get<TargetLoss>(testing::resnet110(0.9).work).curve; }

struct ProfiledCluster {
  double batch;
  std::int32_t workers;
};
// Clusters of 2, 4 and 7 workers, as they profile with, and batches of their machine types.
const std::vector<ProfiledCluster> kClusters{{1'024, 2}, {2'048, 4}, {1'500, 7}, {4'096, 4}};

std::vector<LossPoint> losses(const std::vector<ProfiledCluster>& clusters, int each, double step,
                              double relative_noise = 0, std::uint64_t seed = 1) {
  base::Random random(seed);
  const auto g = resnet();
  std::vector<LossPoint> out;
  for (const auto& c : clusters)
    for (int i = 1; i <= each; ++i) {
      const auto j = i * step;
      const auto loss = (g.g2 * c.batch + g.g3) * std::sqrt(c.workers) / (j + g.g1) + g.g5;
      out.push_back({j, loss * (1 + relative_noise * noise(random)), c.batch, c.workers});
    }
  return out;
}

TEST(FitConvergence, GivesBackThePublishedParametersOfResNet110) {
  const auto out = fit_convergence(losses(kClusters, 30, 300));
  ASSERT_TRUE(out) << said(out);
  const auto g = resnet();
  EXPECT_TRUE(out->by_batch);
  EXPECT_EQ(out->runs, 4u);
  EXPECT_NEAR(out->curve.g1, g.g1, 0.01 * g.g1);
  EXPECT_NEAR(out->curve.g2, g.g2, 0.01 * -g.g2);
  EXPECT_NEAR(out->curve.g3, g.g3, 0.01 * g.g3);
  EXPECT_NEAR(out->curve.g5, g.g5, 0.01 * g.g5);
  EXPECT_FALSE(out->curve.g4);
  EXPECT_LT(out->rms, 1e-4);
}

TEST(FitConvergence, WithNoiseOf5PercentItPredictsTheIterationsOfTheKnownPlan) {
  // Table V, loss 0.9: 2 p3.2xlarge and 2 g3.8xlarge, batch 1024 each, 10,637 iterations.
  const auto& known = testing::kKnownPlans.front();
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto out = fit_convergence(losses(kClusters, 100, 100, 0.05, seed));
    ASSERT_TRUE(out) << said(out);
    EXPECT_NEAR(*out->iterations_to(known.loss, 1'024, 4), known.iterations, 0.1 * known.iterations)
        << seed;
  }
}

TEST(FitConvergence, OneRunGivesItsOwnCurve) {
  auto points = losses({{1'024, 4}}, 40, 250);
  const auto out = fit_convergence(points);
  ASSERT_TRUE(out) << said(out);
  EXPECT_FALSE(out->by_batch);
  EXPECT_EQ(out->runs, 1u);
  EXPECT_EQ(out->curve.g2, 0);
  EXPECT_NEAR(out->curve.g3, -0.2 * 1'024 + 2'507.6, 1);
  EXPECT_NEAR(*out->iterations_to(0.9, 1'024, 4), 10'637, 2);
  // Not knowing the workers, it takes them for one.
  for (auto& p : points) p.batch.reset(), p.workers.reset();
  const auto bare = fit_convergence(points);
  ASSERT_TRUE(bare) << said(bare);
  EXPECT_NEAR(bare->curve.g3, 2 * out->curve.g3, 1);
  EXPECT_NEAR(*bare->iterations_to(0.9, 1, 1), 10'637, 2);
}

TEST(FitConvergence, ALossNeverEndsBelowZero) {
  // Falls as 1/j to nothing, with noise that least squares would follow below it.
  base::Random random(3);
  std::vector<LossPoint> points;
  for (int j = 100; j <= 4'000; j += 100)
    points.push_back({1.0 * j, 800.0 / (j + 100) - 0.02 + 0.01 * random.unit(), {}, {}});
  for (auto& p : points) p.loss = std::max(0.0, p.loss);
  const auto out = fit_convergence(points);
  ASSERT_TRUE(out) << said(out);
  EXPECT_EQ(out->curve.g5, 0);
  EXPECT_FALSE(out->iterations_to(0, 1, 1));
}

TEST(FitConvergence, LossesThatSayNothingAreRefused) {
  const auto message = [](std::vector<LossPoint> points) { return said(fit_convergence(points)); };
  EXPECT_THAT(message({{1, 3}, {2, 2}, {3, 1}}), HasSubstr("3 losses / a curve takes at least 4"));
  EXPECT_THAT(message({{1, 1}, {2, 2}, {3, 3}, {4, 4}}), HasSubstr("the loss does not fall"));
  EXPECT_THAT(message({{1, 2}, {2, 2}, {3, 2}, {4, 2}}), HasSubstr("the loss does not fall"));
  EXPECT_THAT(message({{1, 2}, {2, 1}, {3, 2}, {4, 1}, {5, 2}, {6, 1}}),
              HasSubstr("no more than it scatters"));
  EXPECT_THAT(message({{1, 2}, {2, 1}, {3, -2}, {4, 1}}), HasSubstr("point 3 has -2 as its loss"));
  EXPECT_THAT(message({{1, 4, 64, 1}, {2, 3, 64, 1}, {3, 2, 64}, {4, 1, 64, 1}}),
              HasSubstr("of points 1 and 3 only one tells its workers"));
  EXPECT_THAT(message({{1, 4, 64, 1}, {2, 3, 64, 0}, {3, 2, 64, 1}, {4, 1, 64, 1}}),
              HasSubstr("point 2 has 0 workers"));
  EXPECT_THAT(message({{1, 4, 0, 1}, {2, 3, 64, 1}, {3, 2, 64, 1}, {4, 1, 64, 1}}),
              HasSubstr("point 1 has a batch of 0"));
}

// --- Contention -------------------------------------------------------------------------------

constexpr double kRequest = 142, kHub = 1'200;  // Of ResNet-110.

std::vector<BandwidthPoint> bandwidths(double relative_noise = 0) {
  base::Random random(2);
  std::vector<BandwidthPoint> out;
  for (std::int32_t n = 2; n <= 16; ++n) {
    const auto p = std::clamp(0.8 * std::sqrt(n) - 1.92, 0.0, 1.0);
    const auto fair = kHub / n;
    const auto mb_s = kRequest > fair ? p * fair + (1 - p) * kRequest : kRequest;
    out.push_back({n, mb_s * (1 + relative_noise * noise(random))});
  }
  return out;
}

TEST(FitContention, GivesBackThePublishedParametersOfResNet110) {
  const auto out = fit_contention(bandwidths(), kRequest, kHub);
  ASSERT_TRUE(out) << said(out);
  EXPECT_NEAR(out->slope, 0.8, 1e-9);
  EXPECT_NEAR(out->base, -1.92, 1e-9);
  EXPECT_NEAR(out->rms_mb_s, 0, 1e-9);
  EXPECT_EQ(out->points, 5u);  // 9 to 13 workers: fewer ask for less, more ask at every moment.
}

TEST(FitContention, WhatWorkersGetIsRightUnderNoise) {
  const auto out = fit_contention(bandwidths(0.01), kRequest, kHub);
  ASSERT_TRUE(out) << said(out);
  const auto p = std::min(1.0, out->slope * std::sqrt(11) + out->base);
  EXPECT_NEAR(p * kHub / 11 + (1 - p) * kRequest, bandwidths()[9].mb_s, 3);
  EXPECT_GT(out->rms_mb_s, 0);
}

TEST(FitContention, WorkersThatAlwaysAskShareFairly) {
  const auto out =
      fit_contention(std::vector<BandwidthPoint>{{2, 50}, {4, 25}}, /*request_mb_s=*/100, 100);
  ASSERT_TRUE(out) << said(out);
  EXPECT_EQ(out->slope, 0);
  EXPECT_EQ(out->base, 1);
}

TEST(FitContention, MeasurementsThatSayNothingAreRefused) {
  const auto message = [](std::vector<BandwidthPoint> points, double request, double hub) {
    return said(fit_contention(points, request, hub));
  };
  EXPECT_THAT(message({{2, 90}, {4, 60}}, 0, 100), HasSubstr("one worker alone asks for 0 MB/s"));
  EXPECT_THAT(message({{0, 90}, {4, 60}}, 100, 100), HasSubstr("each of 0 workers got 90 MB/s"));
  EXPECT_THAT(message({}, 100, 250), HasSubstr("measure with more than 2 workers"));
  EXPECT_THAT(message({{2, 90}}, 100, 250), HasSubstr("measure with more than 2 workers"));
  EXPECT_THAT(message({{4, 80}, {4, 81}, {9, 11}}, 100, 100),
              HasSubstr("a line takes two different numbers of workers"));
}

}  // namespace
}  // namespace souk::advisor
