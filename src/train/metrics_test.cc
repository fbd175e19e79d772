#include "train/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace souk::train {
namespace {

using ::testing::HasSubstr;

// What the whole comes to, worked out from all samples at once, must be what the parts come to.
TEST(Metrics, ShardsOfAnySizeCombineToWhatAllSamplesComeTo) {
  const std::vector<double> truth{3, 5, 8, 1, 9, 4}, said{2, 5, 10, 1, 7, 5};
  const auto measured = [&](std::size_t from, std::size_t to) {
    Measured out{.samples = static_cast<std::int64_t>(to - from)};
    double square = 0;
    const auto n = static_cast<double>(to - from);
    for (auto i = from; i < to; ++i) {
      square += std::pow(said[i] - truth[i], 2) / n;
      out.metrics["mae"] += std::abs(said[i] - truth[i]) / n;
      out.metrics["offset_mean"] += (truth[i] - 4) / n;
      out.metrics["offset_square"] += std::pow(truth[i] - 4, 2) / n;
    }
    out.loss = square;
    out.metrics["rmse"] = std::sqrt(square);
    out.metrics["perplexity"] = std::exp(square);
    return out;
  };
  const auto parts = {measured(0, 1), measured(1, 4), measured(4, 6)};
  const auto all = combined(parts);
  EXPECT_EQ(all.samples, 6);
  EXPECT_DOUBLE_EQ(all.loss, 10.0 / 6);
  EXPECT_DOUBLE_EQ(all.metrics.at("rmse"), std::sqrt(10.0 / 6));
  EXPECT_DOUBLE_EQ(all.metrics.at("mae"), 1);
  EXPECT_DOUBLE_EQ(all.metrics.at("perplexity"), std::exp(10.0 / 6));
  // Mean 5, sum of squares about it 4 + 0 + 9 + 16 + 16 + 1.
  EXPECT_DOUBLE_EQ(all.metrics.at("r2"), 1 - 10.0 / 46);
  EXPECT_FALSE(all.metrics.contains("offset_mean") || all.metrics.contains("offset_square"));
}

TEST(Metrics, OneThatAPartDoesNotHaveIsLeftOut) {
  const auto parts = {Measured{1, 2, {{"f1", 0.5}, {"accuracy", 1}}},
                      Measured{3, 2, {{"accuracy", 0}, {"other", 1}}}};
  EXPECT_EQ(combined(parts).metrics, (Metrics{{"accuracy", 0.25}}));
  EXPECT_EQ(combined({}).metrics, Metrics{});
}

// All true amounts the same: there is no variance to explain.
TEST(Metrics, AmountsThatNeverChangeHaveNoR2) {
  const auto parts = {Measured{2, 1, {{"rmse", 1}, {"offset_mean", 3}, {"offset_square", 9}}}};
  EXPECT_EQ(combined(parts).metrics, (Metrics{{"rmse", 1}}));
}

TEST(Metrics, WhatCannotBeAveragedOrShownIsRefused) {
  const auto refusal = [](const Metrics& m) {
    const auto checked = check_metrics(m);
    return checked ? std::string() : checked.error().message + " " + checked.error().hint;
  };
  EXPECT_EQ(refusal({{"f1", -3}, {"top-5", 1}, {"recall@10", 0.5}, {"a/b.c_d", 1e9}}), "");
  EXPECT_THAT(refusal({{"x", std::numeric_limits<double>::quiet_NaN()}}), HasSubstr("x is nan"));
  EXPECT_THAT(refusal({{"x", 1e101}}), HasSubstr("x is 1e+101"));
  EXPECT_THAT(refusal({{"accuracy", 1.5}}), HasSubstr("the accuracy is 1.5"));
  EXPECT_THAT(refusal({{"perplexity", 0}}), HasSubstr("the perplexity is 0"));
  for (const std::string& name : {std::string(), std::string("a b"), std::string("<b>"),
                                  std::string("a\x1b[2J"), std::string(65, 'a')})
    EXPECT_THAT(refusal({{name, 1}}), HasSubstr("use 1 to 64 letters")) << name;
  Metrics many;
  for (std::size_t i = 0; i <= kMostMetrics; ++i) many["m" + std::to_string(i)] = 1;
  EXPECT_THAT(refusal(many), HasSubstr("17 metrics give 16 at most"));
}

TEST(Metrics, ATargetIsReachedFromItsSide) {
  const Target loss{"loss", 0.1, true}, accuracy{"accuracy", 0.9};
  EXPECT_TRUE(loss.reached(0.1));
  EXPECT_FALSE(loss.reached(0.11));
  EXPECT_TRUE(accuracy.reached(0.95));
  EXPECT_FALSE(accuracy.reached(0.89));
  EXPECT_FALSE(loss.reached(std::nullopt));
  EXPECT_EQ(less_is_better("rmse"), true);
  EXPECT_EQ(less_is_better("r2"), false);
  EXPECT_EQ(less_is_better("f1"), std::nullopt);
}

}  // namespace
}  // namespace souk::train
