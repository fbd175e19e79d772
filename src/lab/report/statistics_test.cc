#include "lab/report/statistics.h"

#include <gtest/gtest.h>

#include <array>

namespace souk::lab {
namespace {

TEST(Statistics, StudentsTAgreesWithItsTables) {
  struct Row {
    double freedom, quantile;  // Of 97.5%, from any printed table.
  };
  for (const auto& row : {Row{1, 12.706205}, Row{2, 4.302653}, Row{4, 2.776445}, Row{9, 2.262157},
                          Row{29, 2.045230}, Row{99, 1.984217}}) {
    EXPECT_NEAR(student_t_quantile(.975, row.freedom), row.quantile, 1e-6);
    EXPECT_NEAR(student_t(-row.quantile, row.freedom), .025, 1e-7);
  }
}

TEST(Statistics, AnIntervalIsWiderThanItsMeanWhereSamplesDiffer) {
  const std::array samples{1.0, 2.0, 3.0, 4.0, 5.0};
  const auto e = estimate(samples);
  EXPECT_DOUBLE_EQ(e.mean, 3);
  EXPECT_NEAR(e.high - e.mean, 2.776445 * 1.5811388 / 2.2360680, 1e-5);
  EXPECT_NEAR(e.mean - e.low, e.high - e.mean, 1e-12);
}

TEST(Statistics, OneSampleHasNoInterval) {
  const std::array samples{7.0};
  const auto e = estimate(samples);
  EXPECT_EQ(e.low, 7);
  EXPECT_EQ(e.high, 7);
}

TEST(Statistics, QuantilesAreSamples) {
  const std::array sorted{1.0, 2.0, 3.0, 4.0};
  EXPECT_EQ(quantile_of(sorted, 0), 1);
  EXPECT_EQ(quantile_of(sorted, .5), 2);
  EXPECT_EQ(quantile_of(sorted, .51), 3);
  EXPECT_EQ(quantile_of(sorted, .95), 4);
  EXPECT_EQ(quantile_of(sorted, 1), 4);
}

}  // namespace
}  // namespace souk::lab
