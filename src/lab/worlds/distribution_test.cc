#include "lab/worlds/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lab/report/statistics.h"

namespace souk::lab {
namespace {

Distribution distribution(std::string json, Measure measure = Measure::amount) {
  auto d = read_distribution({std::move(json)}, "values", measure);
  EXPECT_TRUE(d) << (d ? "" : d.error().message);
  return d ? *d : Distribution{};
}

base::Error refused(std::string json, Measure measure = Measure::amount) {
  const auto d = read_distribution({std::move(json)}, "values", measure);
  EXPECT_FALSE(d);
  return d ? base::Error{} : d.error();
}

std::vector<double> draws(const Distribution& d, int n) {
  base::Random random(3);
  std::vector<double> out;
  for (int i = 0; i < n; ++i) out.push_back(d.draw(random, static_cast<std::uint64_t>(i)));
  return out;
}

TEST(Distribution, EveryLawHasTheMeanAndSpreadItSays) {
  struct Row {
    const char* json;
    double mean, deviation;
  };
  for (const auto& row : {Row{"2.5", 2.5, 0}, Row{R"({"uniform":[1,3]})", 2, 2 / std::sqrt(12)},
                          Row{R"({"normal":[5,2]})", 5, 2}, Row{R"({"exponential":3})", 3, 3},
                          Row{R"({"lognormal":[2,0.5]})", 2 * std::exp(.125), 1.2079},
                          Row{"[1,2,3,4]", 2.5, std::sqrt(1.25)}}) {
    const auto d = distribution(row.json);
    const auto samples = draws(d, 40'000);
    EXPECT_NEAR(mean_of(samples), row.mean, .03) << row.json;
    EXPECT_NEAR(deviation_of(samples), row.deviation, .04) << row.json;
    EXPECT_NEAR(d.mean(), row.mean, 1e-9) << row.json;
    EXPECT_LE(d.low(), d.high()) << row.json;
  }
}

TEST(Distribution, QuantilesAgreeWithDraws) {
  for (const auto* json : {R"({"uniform":[1,3]})", R"({"normal":[5,2]})", R"({"exponential":3})",
                           R"({"lognormal":[2,0.5]})"}) {
    const auto d = distribution(json);
    auto samples = draws(d, 40'000);
    std::ranges::sort(samples);
    for (const auto u : {.1, .5, .9})
      EXPECT_NEAR(d.quantile(u, 0), quantile_of(samples, u), .08) << json << " " << u;
  }
}

TEST(Distribution, AListIsTakenInTurn) {
  EXPECT_EQ(draws(distribution("[3,1,2]"), 5), (std::vector<double>{3, 1, 2, 3, 1}));
}

TEST(Distribution, TimesAreWrittenWithUnits) {
  const auto d = distribution(R"({"uniform":["10m","2h"]})", Measure::time);
  EXPECT_EQ(d.a, 600);
  EXPECT_EQ(d.b, 7200);
  EXPECT_EQ(distribution(R"({"lognormal":["30m",1.5]})", Measure::time).b, 1.5);
  EXPECT_EQ(refused("30", Measure::time).field, "values");
}

TEST(Distribution, WhatIsCommonIsTheSameForAll) {
  const auto d = distribution(R"({"uniform":[0,1],"common":{"uniform":[10,20]}})");
  const auto one = d.shared(1, "buyers", 5);
  EXPECT_EQ(one, d.shared(1, "buyers", 5));
  EXPECT_NE(one, d.shared(1, "buyers", 6));
  EXPECT_NE(one, d.shared(2, "buyers", 5));
  EXPECT_GE(one, 10);
  EXPECT_LE(one, 20);
  EXPECT_EQ(distribution("1").shared(1, "buyers", 5), 0);
}

TEST(Distribution, MistakesAreNamed) {
  EXPECT_EQ(refused(R"({"unifrom":[0,1]})").hint, "did you mean 'uniform'?");
  EXPECT_EQ(refused(R"({"unifrom":[0,1]})").field, "values.unifrom");
  EXPECT_EQ(refused(R"({"uniform":[1,0]})").field, "values.uniform");
  EXPECT_EQ(refused(R"({"uniform":[1]})").field, "values.uniform");
  EXPECT_EQ(refused(R"({"uniform":[0,1],"normal":[0,1]})").field, "values.normal");
  EXPECT_EQ(refused(R"({"exponential":-1})").field, "values.exponential");
  EXPECT_EQ(refused(R"({})").field, "values");
  EXPECT_EQ(refused("\"much\"").field, "values");
}

TEST(Distribution, StreamsDependOnSeedAgentAndPurposeAlone) {
  const auto first = [](base::Random r) { return r.next(); };
  const auto same = first(stream(1, "buyers", 2, 3));
  EXPECT_EQ(same, first(stream(1, "buyers", 2, 3)));
  EXPECT_NE(same, first(stream(2, "buyers", 2, 3)));
  EXPECT_NE(same, first(stream(1, "sellers", 2, 3)));
  EXPECT_NE(same, first(stream(1, "buyers", 3, 2)));
}

}  // namespace
}  // namespace souk::lab
