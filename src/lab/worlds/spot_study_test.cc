#include "lab/worlds/spot_study.h"
#include "base/file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/testing/shared_data.h"

namespace souk::lab {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kHead =
    "timestamp,region,az,instance_type,product,spot_price_usd_per_hour\n";
const std::map<std::string, double> kTypeRates{{"fast", 4}, {"slow", 1}};

std::string line(int day, std::string_view place, std::string_view type, double price) {
  return fmt::format("2020-01-{:02}T00:00:00.000Z,r,{},{},Linux,{}\n", day, place, type, price);
}

TEST(SpotStudy, APriceHoldsUntilTheNext) {
  const auto series = read_spot_prices(std::string(kHead) + line(3, "a", "fast", 2) +
                                           line(1, "a", "fast", 1) + line(20, "b", "other", 9),
                                       kTypeRates, "prices.csv");
  ASSERT_TRUE(series);
  ASSERT_EQ(series->size(), 1u);
  const auto& s = series->front();
  EXPECT_EQ(s.place, "a fast");
  EXPECT_EQ(s.at(*base::parse_time("2019-01-01T00:00:00Z")), 1);
  EXPECT_EQ(s.at(*base::parse_time("2020-01-02T23:59:59Z")), 1);
  EXPECT_EQ(s.at(*base::parse_time("2020-01-03T00:00:00Z")), 2);
}

TEST(SpotStudy, BadFilesAreNamedWithTheLine) {
  const auto refused = [](const std::string& text) {
    const auto out = read_spot_prices(std::string(kHead) + text, kTypeRates, "prices.csv");
    return out ? std::string("accepted") : out.error().message;
  };
  EXPECT_THAT(refused("a,b\n"), HasSubstr("prices.csv:2: 2 columns"));
  EXPECT_THAT(refused("then,r,a,fast,Linux,1\n"), HasSubstr("'then' is not a time"));
  EXPECT_THAT(refused(line(1, "a", "fast", 1) + line(2, "a", "fast", -1)), HasSubstr(":3:"));
}

// Two places whose prices change places every other day: to stay costs half as much again.
SpotStudy see_saw() {
  std::string text(kHead);
  for (int day = 1; day <= 28; ++day) {
    text += line(day, "a", "slow", day % 4 < 2 ? 1 : 2);
    text += line(day, "b", "slow", day % 4 < 2 ? 2 : 1);
  }
  SpotStudy out{.series = *read_spot_prices(text, kTypeRates, "prices.csv"), .rates = kTypeRates};
  out.hours = 96;
  out.slack = 1.2;
  out.runs = 20;
  out.restart = base::seconds(1);
  return out;
}

TEST(SpotStudy, MovingFollowsThePrice) {
  const auto out = study_spot(see_saw());
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_NEAR(out->hindsight, 96, 0.5);  // Always at 1.
  EXPECT_NEAR(out->moves.cost, 96, 0.5);
  EXPECT_GT(out->stays.cost, 130);
  EXPECT_EQ(out->moves.late + out->stays.late, 0);
  EXPECT_LT(out->moves.over, 0.01);
  EXPECT_GE(out->moves.over, 0);
}

TEST(SpotStudy, HindsightNeverCostsMoreThanWhatWasDone) {
  auto study = see_saw();
  for (const auto slack : {1.05, 1.5, 3.0}) {
    study.slack = slack;
    study.hours = 60;
    const auto out = study_spot(study);
    ASSERT_TRUE(out);
    EXPECT_LE(out->hindsight, out->moves.cost * (1 + 1e-9));
    EXPECT_LE(out->hindsight, out->stays.cost * (1 + 1e-9));
  }
}

TEST(SpotStudy, OnRecordedPricesMovingIsNearHindsightAndNeverLate) {
  const auto path = testing::shared_data("training_on_a_dime/aws_gpu_spot_prices_2019-2020.csv");
  if (path.empty()) GTEST_SKIP() << "the prices are not on this machine";
  const auto text = base::read_file(path, "");
  ASSERT_TRUE(text);
  SpotStudy study{.rates = {{"p3.2xlarge", 8.2330}, {"p2.xlarge", 3.8291}}, .runs = 30};
  study.series = *read_spot_prices(*text, study.rates, "prices.csv");
  study.period = base::minutes(15);
  for (const auto slack : {1.2, 1.5, 3.0}) {
    study.slack = slack;
    const auto out = study_spot(study);
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_EQ(out->moves.late, 0);
    EXPECT_LT(out->moves.over_p95, 0.15);
    EXPECT_LE(out->moves.cost, out->stays.cost * 1.001);
  }
}

TEST(SpotStudy, WhatCannotBeIsRefused) {
  auto study = see_saw();
  study.hours = 10'000;
  EXPECT_FALSE(study_spot(study));
  study.hours = 900;
  EXPECT_THAT(study_spot(study).error().message, HasSubstr("shorter than the deadline"));
  study.series.clear();
  EXPECT_THAT(study_spot(study).error().message, HasSubstr("no prices"));
}

}  // namespace
}  // namespace souk::lab
