#include "advisor/churn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace souk::advisor {
namespace {

double uniform(base::Random& random) {
  return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53;
}
double exponential(base::Random& random, double mean) { return -mean * std::log(uniform(random)); }

// One machine at work, revocation by revocation.
double simulate(base::Random& random, double work_s, double stay_s, const Recovery& r) {
  double now = 0, done = 0, leaves = exponential(random, stay_s);
  while (done < work_s) {
    const auto piece = std::fmin(r.interval_s, work_s - done);
    if (now + piece + r.checkpoint_s <= leaves) {
      now += piece + r.checkpoint_s;
      done += piece;
      continue;
    }
    do {  // Who comes next may leave before it has begun.
      now = leaves;
      leaves = now + exponential(random, stay_s);
    } while (leaves < now + r.restart_s);
    now += r.restart_s;
  }
  return now;
}

double mean_time(double work_s, double stay_s, const Recovery& r, int runs) {
  base::Random random(7);
  double sum = 0;
  for (int i = 0; i < runs; ++i) sum += simulate(random, work_s, stay_s, r);
  return sum / runs;
}

// By hand: d / 2M is 1/576, so 7,200 (1 + 1/72 + 1/5,184) - 300.
TEST(Churn, CheckpointsComeAsOftenAsYoungAndDalySay) {
  EXPECT_NEAR(best_interval(300, 86'400), 7'001.3889, 1e-4);
  EXPECT_DOUBLE_EQ(best_interval(500, 200), 200);  // Beyond 2M nothing helps.
  EXPECT_TRUE(std::isinf(best_interval(10, std::numeric_limits<double>::infinity())));
  EXPECT_DOUBLE_EQ(best_interval(0, 3'600), 0);  // A safe moment that costs nothing: always.
}

TEST(Churn, TheBestIntervalIsTheBestOfAll) {
  const auto per_s = 1 / 3'600.0;
  const Recovery best = settled({.checkpoint_s = 20, .restart_s = 60}, per_s);
  for (const auto factor : {0.5, 0.8, 1.25, 2.0}) {
    auto other = best;
    other.interval_s *= factor;
    EXPECT_LT(stretch(per_s, best), stretch(per_s, other)) << factor;
  }
}

TEST(Churn, ExpectedTimeIsWhatASimulationOfRevocationsTakes) {
  const Recovery rows[] = {{.interval_s = 300, .checkpoint_s = 10, .restart_s = 30},
                           {.interval_s = 60, .checkpoint_s = 0, .restart_s = 30},
                           {.interval_s = 1'800, .checkpoint_s = 60, .restart_s = 120}};
  for (const auto& r : rows) {
    const auto forecast = 36'000 * stretch(1 / 3'600.0, r);
    EXPECT_NEAR(mean_time(36'000, 3'600, r, 3'000), forecast, 0.01 * forecast) << r.interval_s;
  }
}

TEST(Churn, MachinesThatStayLoseNothing) {
  EXPECT_DOUBLE_EQ(stretch(0, {.interval_s = 100, .checkpoint_s = 1}), 1.01);
  EXPECT_DOUBLE_EQ(stretch(0, settled({.checkpoint_s = 1}, 0)), 1);
  EXPECT_DOUBLE_EQ(lost_per_revocation(0, {.interval_s = 100}), 0);
}

// To first order half an interval and the restart.
TEST(Churn, ARevocationCostsHalfAnIntervalAndTheRestart) {
  EXPECT_NEAR(lost_per_revocation(1e-7, {.interval_s = 100, .restart_s = 30}), 80, 0.1);
}

TEST(Churn, FewerEventsThanExpectedAreAsLikelyAsPoissonSays) {
  EXPECT_NEAR(chance_of_at_most(0, 2), std::exp(-2), 1e-12);
  EXPECT_NEAR(chance_of_at_most(2.9, 2), std::exp(-2) * 5, 1e-12);
  EXPECT_DOUBLE_EQ(chance_of_at_most(-1, 2), 0);
  EXPECT_DOUBLE_EQ(chance_of_at_most(0, 0), 1);
  EXPECT_NEAR(chance_of_at_most(1e9, 500), 1, 1e-9);
  EXPECT_NEAR(chance_of_at_most(1'000, 1'000), 0.508, 1e-3);  // Summed.
  EXPECT_NEAR(chance_of_at_most(1'001, 1'001), 0.508, 0.01);  // By the normal distribution.
}

}  // namespace
}  // namespace souk::advisor
