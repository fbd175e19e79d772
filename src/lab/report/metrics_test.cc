#include "lab/report/metrics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace souk::lab {
namespace {

// Known answers 18 of the economics notes.
TEST(Metrics, SmithsAlphaIsTheRootMeanSquareDistance) {
  EXPECT_NEAR(smith_alpha(std::array{2.10, 1.95, 2.00, 2.05, 1.90}, 2.00), .035355, 5e-7);
}

TEST(Metrics, GiniOfKnownDistributions) {
  EXPECT_NEAR(gini(std::array{0.0, 0.0, 0.0, 1.0}), .75, 1e-12);
  EXPECT_NEAR(gini(std::array{1.0, 2.0, 3.0, 4.0}), .25, 1e-12);
  EXPECT_NEAR(gini(std::array{4.0, 2.0, 1.0, 3.0}), .25, 1e-12);  // In any order.
  EXPECT_NEAR(gini(std::array{5.0, 5.0}), 0, 1e-12);
  EXPECT_EQ(gini(std::array{0.0, 0.0}), 0);
  EXPECT_EQ(gini({}), 0);
}

TEST(Metrics, APriceThatDoublesAndHalvesIsVolatile) {
  EXPECT_EQ(log_volatility(std::array{2.0, 2.0, 2.0}), 0);
  // Steps of +ln 2 and -ln 2.
  EXPECT_NEAR(log_volatility(std::array{1.0, 2.0, 1.0}), std::sqrt(2.0) * std::log(2.0), 1e-12);
}

TEST(Metrics, SharesSumToOne) {
  const auto m =
      measure({.gain = 10, .most_gain = 20, .buyers_gain = 5, .sellers_gain = 4, .platform = 1});
  EXPECT_DOUBLE_EQ(*m.efficiency, .5);
  EXPECT_DOUBLE_EQ(*m.buyers_share + *m.sellers_share + *m.platform_share, 1);
}

TEST(Metrics, WhatAWorldDoesNotHaveIsAbsent) {
  const auto m = measure({});
  EXPECT_FALSE(m.efficiency || m.alpha || m.price || m.wait_p50 || m.utilisation || m.defection);
}

TEST(Metrics, AlphaCountsEachUnit) {
  Record r;
  r.trades = {{.units = 3, .pays = Credits(2'000'000), .equilibrium = 2},
              {.units = 1, .pays = Credits(3'000'000), .equilibrium = 2}};
  const auto m = measure(r);
  EXPECT_DOUBLE_EQ(*m.price, 2.25);
  EXPECT_DOUBLE_EQ(*m.alpha, .25);  // sqrt(1/4) / 2
  EXPECT_DOUBLE_EQ(*m.units, 4);
}

TEST(Metrics, RecoveryIsTheTimeUntilThePriceIsNearEquilibriumAgain) {
  const std::array prices{PricePoint{10, 2, 2}, PricePoint{20, 3, 2}, PricePoint{30, 2.5, 2},
                          PricePoint{40, 2.05, 2}};
  EXPECT_EQ(recovery_time(prices, 20, 100), 20);
  EXPECT_EQ(recovery_time(std::span(prices).first(3), 20, 100), 80);  // Never: all that is left.
}

}  // namespace
}  // namespace souk::lab
