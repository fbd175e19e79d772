#include "server/core/telemetry.h"

#include <gtest/gtest.h>

namespace souk::server {
namespace {

using base::LeaseId;

wire::UsageSample at(std::int64_t second) {
  return {base::Time(second * 1'000'000), {.cpu_seconds = static_cast<double>(second)}};
}

TEST(Telemetry, ALongLeaseKeepsItsWholeLifeInBoundedMemory) {
  Telemetry t;
  for (int second = 0; second <= 100'000; second += 10) t.add(LeaseId(1), at(second));
  const auto series = t.series(LeaseId(1));
  EXPECT_LT(series.size(), Telemetry::kSamples);
  EXPECT_GT(series.size(), Telemetry::kSamples / 4);
  EXPECT_EQ(series.front().usage.cpu_seconds, 0);
  EXPECT_EQ(series.back().usage.cpu_seconds, 100'000);
  for (std::size_t i = 1; i < series.size(); ++i) EXPECT_LT(series[i - 1].at, series[i].at);
}

TEST(Telemetry, AShortLeaseKeepsEverySample) {
  Telemetry t;
  for (int second = 0; second < 100; ++second) t.add(LeaseId(1), at(second));
  EXPECT_EQ(t.series(LeaseId(1)).size(), 100u);
}

TEST(Telemetry, OnlyTheNewestLeasesAreKept) {
  Telemetry t;
  for (std::uint64_t i = 1; i <= Telemetry::kLeases + 5; ++i) t.set_doing(LeaseId(i), "fetching");
  EXPECT_EQ(t.doing(LeaseId(5)), std::nullopt);
  EXPECT_EQ(t.doing(LeaseId(6)), "fetching");
}

}  // namespace
}  // namespace souk::server
