#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "train/validators/validator.h"

namespace souk::train {
namespace {

using ::testing::HasSubstr;

History usual(double norm, std::size_t count = kEnough) {
  History h;
  for (std::size_t i = 0; i < count; ++i) h.accept({.stats = {.norm = norm}, .steps = 1});
  return h;
}

TEST(Norm, RefusesExplodingUpdatesAndThoseThatSayNothing) {
  const auto norm = *make_validator("norm");
  const struct {
    double norm;
    const char* says;
  } cases[] = {{2, ""},
               {19.9, ""},
               {20.1, "at most 10 times"},
               {0.067, ""},
               {0.0001, "changes nothing"},
               {0, "changes nothing"}};
  for (const auto& c : cases) {
    const auto verdict = norm->judge({.stats = {.norm = c.norm}, .steps = 1}, usual(2));
    EXPECT_THAT(verdict, HasSubstr(c.says));
    EXPECT_EQ(verdict.empty(), *c.says == '\0') << c.norm;
  }
  const auto bad = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(norm->judge({.stats = {.finite = false, .norm = bad}}, {}), "");
}

// Seen at the end of real trainings: the last machine was sent away for longer and longer.
TEST(Norm, UpdatesThatShrinkAsTheModelFitsAreBelieved) {
  const auto norm = *make_validator("norm");
  History h;
  for (double size = 1; size > 1e-30; size *= 0.5) {
    const Evidence e{.stats = {.norm = size}, .steps = 1};
    ASSERT_EQ(norm->judge(e, h), "") << size;
    h.accept(e);
  }
  EXPECT_NE(norm->judge({.stats = {.norm = 0}, .steps = 1}, h), "");
}

TEST(Norm, LongerUnitsMayChangeMore) {
  const auto norm = *make_validator("norm");
  EXPECT_NE(norm->judge({.stats = {.norm = 30}, .steps = 1}, usual(1)), "");
  EXPECT_EQ(norm->judge({.stats = {.norm = 30}, .steps = 16}, usual(1)), "");
}

// What was found in real trainings: in the first epoch steps point one way and momentum gathers,
// while units grow from one step to many.
TEST(Norm, UnitsThatGrowWithMomentumAreBelieved) {
  const auto norm = *make_validator("norm");
  for (const auto keep : {0.0, 0.5, 0.9}) {
    History h;
    double speed = 0;
    for (int unit = 0; unit < 60; ++unit) {
      const std::int64_t steps = unit < 12 ? 1 : unit < 16 ? 8 : 64;
      double moved = 0;
      for (std::int64_t i = 0; i < steps; ++i) moved += speed = keep * speed + 1;
      const Evidence e{.stats = {.norm = moved}, .steps = steps, .worker = unit % 3};
      h.note(e);
      ASSERT_EQ(norm->judge(e, h), "") << keep << " " << unit;
      h.accept(e);
    }
  }
}

TEST(Norm, WhereAllGrowTenfoldWithinEightUpdatesNobodyIsRefused) {
  const auto norm = *make_validator("norm");
  for (const int workers : {1, 2, 4, 8}) {
    History h;
    double size = 1;
    for (int unit = 0; unit < 200; ++unit) {
      if (unit >= 64 && unit < 64 + 24) size *= std::pow(10, 1.0 / 8);
      const Evidence e{.stats = {.norm = size}, .steps = 1, .worker = unit % workers};
      h.note(e);
      ASSERT_EQ(norm->judge(e, h), "") << workers << " " << unit;
      h.accept(e);
    }
  }
}

TEST(Norm, JudgesNothingBeforeThereIsEnoughToCompareWith) {
  const auto norm = *make_validator("norm");
  EXPECT_EQ(norm->judge({.stats = {.norm = 1e9}}, usual(1, kEnough - 1)), "");
  EXPECT_EQ(norm->judge({.stats = {.norm = 1}}, usual(0)), "");
}

TEST(Norm, TheFactorCanBeChosen) {
  const auto norm = *make_validator("norm:2");
  EXPECT_NE(norm->judge({.stats = {.norm = 2.1}, .steps = 1}, usual(1)), "");
  EXPECT_EQ(norm->judge({.stats = {.norm = 0.17}, .steps = 1}, usual(1)), "");
}

}  // namespace
}  // namespace souk::train
