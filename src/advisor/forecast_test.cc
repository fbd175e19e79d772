#include "advisor/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "advisor/testing/forecaster.h"
#include "advisor/testing/resnet.h"
#include "base/random.h"

namespace souk::advisor {
namespace {

using ::testing::HasSubstr;
using testing::kKnownPlans;
using testing::must;
using testing::resnet110;
using namespace base::literals;

std::string refusal(Problem problem) {
  const auto out = Forecaster::make(std::move(problem));
  return out ? "none" : out.error().message + " / " + out.error().hint;
}

// One type of `quota` machines, a step of 1 s, a batch of 10, 1 credit an hour.
Problem plain(std::int32_t quota, Goal work) {
  return {.types = {{.name = "box", .quota = quota, .price = 1_cr, .batch = 10, .compute_s = 1}},
          .work = work};
}

TEST(Forecast, GivesThePublishedNumbersOfResNet110) {
  for (const auto& known : kKnownPlans) {
    const auto out = must(resnet110(known.loss)).estimate(known.mix);
    EXPECT_NEAR(out.time_s, known.time_s, 0.01);
    EXPECT_NEAR(out.cost, known.cost, 0.0001);
    EXPECT_EQ(out.iterations, known.iterations);
  }
}

// Table VI of spotDNN: .71, .82, .87 for 2, 3 and 4 equal machines.
TEST(Forecast, EqualMachinesAreAsUnequalAsThePaperSays) {
  const auto f = must(plain(4, Samples{100}));
  EXPECT_NEAR(f.forecast({1}).heterogeneity, 0, 1e-12);
  EXPECT_NEAR(f.forecast({2}).heterogeneity, 0.71, 0.005);
  EXPECT_NEAR(f.forecast({3}).heterogeneity, 0.82, 0.005);
  EXPECT_NEAR(f.forecast({4}).heterogeneity, 0.87, 0.005);
  auto unequal = plain(1, Samples{100});
  unequal.types.push_back(unequal.types.front());
  unequal.types.back().compute_s = 9;
  EXPECT_LT(must(unequal).forecast({1, 1}).heterogeneity, f.forecast({2}).heterogeneity);
}

// || w - (1, 0, ..., 0) ||, w the shares in the speed, the fastest first.
double heterogeneity(std::vector<double> speeds) {
  std::ranges::sort(speeds, std::ranges::greater());
  const auto all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  double squares = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i)
    squares += std::pow(speeds[i] / all - (i == 0 ? 1 : 0), 2);
  return std::sqrt(squares);
}

TEST(Forecast, AMixKnowsHowUnequalItIs) {
  const auto f = must(resnet110(0.9));
  const auto out = f.forecast({1, 0, 2, 0, 0});
  const auto speed = [&](std::size_t i) {
    return f.problem().types[i].batch / f.step_seconds(i, 3);
  };
  EXPECT_NEAR(out.heterogeneity, heterogeneity({speed(0), speed(2), speed(2)}), 1e-12);
}

TEST(Forecast, TheTermForUnequalMachinesCountsWhereItWasFitted) {
  auto with = resnet110(0.9);
  std::get<TargetLoss>(with.work).curve.g4 = 0.3;
  const Mix mix{2, 0, 2, 0, 0};
  const auto f = must(with);
  const auto r = f.forecast(mix).heterogeneity;
  const auto without = must(resnet110(0.9)).estimate(mix).iterations;
  EXPECT_NEAR((f.estimate(mix).iterations + 876.5) / (without + 876.5), std::sqrt(r + 0.3), 1e-3);
}

TEST(Forecast, ComputingIsWhatIsLeftOfAStepWithoutTheExchange) {
  const Traffic t{.model_mb = 10, .request_mb_s = 100, .pcie_mb_s = 1'000};
  EXPECT_DOUBLE_EQ(compute_seconds(1, t, 4), 1 - 0.2 - 0.08);
}

TEST(Forecast, WorkersThatAskForMoreThanTheHubHasGetLess) {
  auto p = resnet110(0.9);
  const auto f = must(p);
  EXPECT_EQ(f.most_machines(), 13);                              // floor((2.92 / 0.8)^2).
  EXPECT_DOUBLE_EQ(f.step_seconds(0, 8), f.step_seconds(0, 1));  // 8 x 142 < 1,200.
  // P = 0.8 sqrt(12) - 1.92 = 0.851; B = P 100 + (1 - P) 142 = 106.25.
  const auto slower = 2 * 11.5 / 106.2457 - 2 * 11.5 / 142;
  EXPECT_NEAR(f.step_seconds(0, 12) - f.step_seconds(0, 1), slower, 1e-5);
  EXPECT_EQ(f.forecast({2, 5, 5, 0, 0}).limit, Bottleneck::network);
  EXPECT_EQ(f.forecast({2, 0, 2, 0, 0}).limit, Bottleneck::compute);
}

TEST(Forecast, AFitOfContentionForManyWorkersDoesNotSpeedUpFew) {
  auto p = resnet110(0.9);
  p.traffic.request_mb_s = 650;  // Two ask for more than the hub has; P would be -0.79.
  const auto f = must(p);
  EXPECT_DOUBLE_EQ(f.step_seconds(0, 2), f.step_seconds(0, 1));
}

TEST(Forecast, TheHubsFoldsAreALimitOfTheirOwn) {
  auto p = plain(8, Iterations{1'000});
  p.hub.folds_per_s = 5;
  const auto f = must(p);
  EXPECT_DOUBLE_EQ(f.estimate({4}).time_s, 250);
  EXPECT_DOUBLE_EQ(f.estimate({8}).time_s, 200);
  EXPECT_EQ(f.forecast({4}).limit, Bottleneck::compute);
  EXPECT_EQ(f.forecast({8}).limit, Bottleneck::hub);
}

TEST(Forecast, SamplesAndIterationsAreWorkToo) {
  EXPECT_DOUBLE_EQ(must(plain(4, Iterations{1'000})).estimate({4}).time_s, 250);
  EXPECT_DOUBLE_EQ(must(plain(4, Samples{1'000})).estimate({4}).time_s, 25);
  EXPECT_NEAR(must(plain(4, Samples{36'000})).estimate({1}).cost, 1, 1e-12);
}

TEST(Forecast, IntervalsComeFromEarlierRuns) {
  auto p = plain(4, Iterations{1'000});
  const auto guess = must(p).forecast({1});
  EXPECT_TRUE(guess.guessed);
  EXPECT_DOUBLE_EQ(guess.time_s.low, 800);
  EXPECT_DOUBLE_EQ(guess.time_s.high, 1'200);
  p.types[0].residuals = {-.02, -.01, 0, .01, .02, .03, .04, .05, .06};
  const auto known = must(p).forecast({1});
  EXPECT_FALSE(known.guessed);
  EXPECT_DOUBLE_EQ(known.time_s.low, 980);
  EXPECT_DOUBLE_EQ(known.time_s.expected, 1'000);
  EXPECT_DOUBLE_EQ(known.time_s.high, 1'060);
  EXPECT_DOUBLE_EQ(known.cost.high, 1'060 / 3'600.0);
}

TEST(Forecast, WhatNearlyAllEarlierRunsTookMoreIsExpectedOfTheNext) {
  auto p = plain(4, Iterations{1'000});
  p.types[0].residuals = {.12, .11, .1, .11, .12, .13, .14, .15, .16};
  const auto known = must(p).forecast({1});
  EXPECT_DOUBLE_EQ(known.time_s.low, 1'100);
  EXPECT_DOUBLE_EQ(known.time_s.expected, 1'120);
  EXPECT_DOUBLE_EQ(known.time_s.high, 1'160);
  EXPECT_DOUBLE_EQ(known.estimate.time_s, 1'000);
}

TEST(Forecast, TheHubsPriceIsToldApart) {
  auto p = plain(4, Iterations{3'600});
  p.hub.price = 0.5_cr;
  const auto out = must(p).forecast({1});
  EXPECT_NEAR(out.cost.expected, 1, 1e-12);
  EXPECT_NEAR(out.cost_with_hub.expected, 1.5, 1e-12);
}

TEST(Forecast, MachinesThatLeaveMakeItLater) {
  auto p = plain(4, Iterations{36'000});
  p.recovery = {.interval_s = 60, .restart_s = 30};
  p.types[0].revocations_per_hour = 1;
  const auto out = must(p).forecast({4});
  // Each revocation costs about half a unit and the restart: 60 s an hour of each machine.
  EXPECT_NEAR(out.time_s.expected, 9'000 * (1 + 60 / 3'600.0), 10);
  EXPECT_NEAR(out.revocations, 4 * 9'152 / 3'600.0, 0.1);
}

TEST(Forecast, ChanceGoesFromNoneToCertain) {
  const auto f = must(plain(4, Iterations{1'000}));
  EXPECT_DOUBLE_EQ(f.chance({1}, 700), 0);
  EXPECT_NEAR(f.chance({1}, 1'000), 0.5, 0.01);
  EXPECT_NEAR(f.chance({1}, 1'200), 0.9, 0.01);
  EXPECT_DOUBLE_EQ(f.chance({1}, 1'260), 1);
  EXPECT_EQ(f.forecast({1}, 1'260).chance, 1.0);
  EXPECT_EQ(f.forecast({1}).chance, std::nullopt);
}

// Machines one by one, revocation by revocation, against the forecast's Poisson.
TEST(Forecast, ChanceUnderRevocationsIsThatOfASimulation) {
  auto p = plain(3, Iterations{30'000});
  p.types[0].revocations_per_hour = 2;
  p.types[0].residuals.assign(10'000, 0);  // The steps themselves are certain.
  p.recovery = {.interval_s = 120, .restart_s = 200};
  const auto f = must(p);
  const auto uniform = [](base::Random& r) {
    return (static_cast<double>(r.next() >> 11) + 0.5) * 0x1p-53;
  };
  base::Random random(3);
  for (const double deadline : {11'200.0, 11'600.0, 12'000.0}) {
    constexpr int runs = 3'000;
    int met = 0;
    for (int run = 0; run < runs; ++run) {
      double steps = 0;  // That three machines hand in by the deadline.
      for (int machine = 0; machine < 3; ++machine) {
        double now = 0;
        while (now < deadline) {
          const auto leaves = std::min(now - 1'800 * std::log(uniform(random)), deadline);
          steps += std::floor((leaves - now) / 120) * 120;
          now = leaves + 200;
        }
      }
      met += steps >= 30'000 ? 1 : 0;
    }
    EXPECT_NEAR(f.chance({3}, deadline), static_cast<double>(met) / runs, 0.06) << deadline;
  }
}

TEST(Forecast, WhatCannotBeIsNamed) {
  EXPECT_EQ(refusal(resnet110(0.5)),
            "a loss of 0.5 is never reached: the curve ends at 0.5 / ask for a loss above 0.5");
  EXPECT_THAT(refusal({.work = Iterations{1}}), HasSubstr("0 machine types"));
  EXPECT_THAT(refusal(plain(0, Iterations{1})), HasSubstr("every quota is 0"));
  EXPECT_THAT(refusal(plain(10'001, Iterations{1})), HasSubstr("at most 10000 in all"));
  EXPECT_THAT(refusal(plain(1, Samples{0})), HasSubstr("0 samples are to be done"));
  auto p = plain(1, Iterations{1});
  p.types[0].compute_s = -0.1;
  EXPECT_EQ(refusal(p), "the time to compute a step of box is -0.1 / it is above 0");
  p = plain(1, Iterations{1});
  p.types[0].residuals = {-1};
  EXPECT_THAT(refusal(p), HasSubstr("a residual of box is -1"));
  p = plain(1, Iterations{1});
  p.hub.folds_per_s = NAN;
  EXPECT_THAT(refusal(p), HasSubstr("the hub's folds per second is nan"));
  p = plain(1, Iterations{1});
  p.level = 1;
  EXPECT_THAT(refusal(p), HasSubstr("intervals of 1"));
}

TEST(Forecast, ABatchThatTheCurveDoesNotCoverIsNeverDone) {
  auto p = resnet110(0.9);
  p.types[4].batch = 20'000;  // g2 b + g3 is below 0.
  EXPECT_TRUE(std::isinf(must(p).estimate({0, 0, 0, 0, 1}).time_s));
}

// A bound that is too high would make searches miss the best.
TEST(Forecast, TheLeastIterationsAreAtMostThoseOfAnyMix) {
  auto p = resnet110(0.8);
  std::get<TargetLoss>(p.work).curve.g4 = 0.1;
  const auto f = must(p);
  for (std::int32_t a = 0; a <= 2; ++a)
    for (std::int32_t b = 0; b <= 5; ++b)
      for (std::int32_t c = 0; c <= 5; ++c) {
        const Mix mix{a, b, c, 0, 0};
        const auto n = machines_in(mix);
        if (n < 1 || n > f.most_machines()) continue;
        EXPECT_LE(f.least_iterations(n, f.forecast(mix).batch), f.estimate(mix).iterations);
      }
}

}  // namespace
}  // namespace souk::advisor
