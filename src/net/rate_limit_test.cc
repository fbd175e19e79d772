#include "net/rate_limit.h"

#include <gtest/gtest.h>

namespace souk::net {
namespace {

using base::milliseconds;
using base::seconds;
using base::Time;

constexpr Time kStart{1'000'000'000};

TEST(RateLimiter, AllowsTheBurstThenOneTokenAtATime) {
  RateLimiter limiter({.burst = 3, .per_token = seconds(1)}, 10);
  struct Step {
    std::int64_t at_ms;
    bool allowed;
    std::int64_t retry_ms;
  };
  // Worked by hand: three tokens at 0; the next ones exist at 1 s, 2 s, ...
  const std::vector<Step> steps = {
      {0, true, 0},    {0, true, 0},        {0, true, 0},    {0, false, 1000}, {400, false, 600},
      {1000, true, 0}, {1000, false, 1000}, {3500, true, 0}, {3500, true, 0},  {3500, false, 500}};
  for (const Step& step : steps) {
    const auto verdict = limiter.take("a", kStart + milliseconds(step.at_ms));
    EXPECT_EQ(verdict.allowed, step.allowed) << "at " << step.at_ms;
    EXPECT_EQ(verdict.retry_after, milliseconds(step.retry_ms)) << "at " << step.at_ms;
  }
}

TEST(RateLimiter, WaitingExactlyRetryAfterIsEnough) {
  RateLimiter limiter({.burst = 5, .per_token = milliseconds(7)}, 10);
  ASSERT_TRUE(limiter.take("a", kStart, 5).allowed);
  const auto refused = limiter.take("a", kStart, 3);
  ASSERT_FALSE(refused.allowed);
  EXPECT_FALSE(limiter.take("a", kStart + refused.retry_after - base::microseconds(1), 3).allowed);
  EXPECT_TRUE(limiter.take("a", kStart + refused.retry_after, 3).allowed);
}

TEST(RateLimiter, OneNoisyKeyDoesNotCostOthersAnything) {
  RateLimiter limiter({.burst = 1, .per_token = seconds(1)}, 10);
  EXPECT_TRUE(limiter.take("noisy", kStart).allowed);
  EXPECT_FALSE(limiter.take("noisy", kStart).allowed);
  EXPECT_TRUE(limiter.take("quiet", kStart).allowed);
}

TEST(RateLimiter, AMillionKeysDoNotGrowMemory) {
  RateLimiter limiter({.burst = 2, .per_token = seconds(1)}, 100);
  for (int i = 0; i < 1'000'000; ++i) limiter.take("key" + std::to_string(i), kStart);
  EXPECT_EQ(limiter.keys(), 100U);
}

TEST(RateLimiter, ManyFreshKeysDoNotWashAnEmptyBucketClean) {
  RateLimiter limiter({.burst = 3, .per_token = seconds(1)}, 10);
  ASSERT_TRUE(limiter.take("abuser", kStart, 3).allowed);
  for (int i = 0; i < 1000; ++i) limiter.take("fresh" + std::to_string(i), kStart);
  EXPECT_FALSE(limiter.take("abuser", kStart).allowed);
}

TEST(RateLimiter, AClockSetBackLocksNobodyOut) {
  RateLimiter limiter({.burst = 2, .per_token = seconds(1)}, 10);
  ASSERT_TRUE(limiter.take("a", kStart + base::hours(5), 2).allowed);
  EXPECT_TRUE(limiter.take("a", kStart).allowed);
}

TEST(RateLimiter, WhatCostsMoreIsChargedAndNeverOwedForLongerThanABurst) {
  RateLimiter limiter({.burst = 10, .per_token = base::seconds(1)}, 100);
  const base::Time now(1'000'000'000);
  EXPECT_TRUE(limiter.take("a", now).allowed);
  limiter.charge("a", now, 8);
  EXPECT_TRUE(limiter.take("a", now).allowed);
  EXPECT_FALSE(limiter.take("a", now).allowed);
  limiter.charge("a", now, 1'000'000);
  EXPECT_FALSE(limiter.take("a", now).allowed);
  EXPECT_TRUE(limiter.take("a", now + base::seconds(1)).allowed);
  limiter.charge("b", now, 0);
  limiter.charge("b", now, 10);
  EXPECT_FALSE(limiter.take("b", now).allowed);
  EXPECT_TRUE(limiter.take("c", now).allowed);
}

TEST(RateLimiter, WhatIsGivenBackCanBeTakenAgain) {
  RateLimiter limiter({.burst = 1, .per_token = base::seconds(60)}, 100);
  const base::Time now(1'000'000'000);
  limiter.give_back("a");
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(limiter.take("a", now).allowed);
    EXPECT_FALSE(limiter.take("a", now).allowed);
    limiter.give_back("a");
  }
}

}  // namespace
}  // namespace souk::net
