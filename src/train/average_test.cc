#include "train/average.h"

#include <gtest/gtest.h>

#include <vector>

namespace souk::train {
namespace {

ParameterSnapshot at(float value, std::size_t size = 3) {
  return {.blocks = blocks_of(std::vector<float>(size, value)), .versions = {}, .version = 1};
}

float of(const RunningAverage& average) { return (*average.blocks()[0])[0]; }

TEST(RunningAverage, TheFirstLookIsTheAverage) {
  RunningAverage average;
  EXPECT_TRUE(average.empty());
  EXPECT_TRUE(average.due(0));
  average.add(at(7), 10);
  EXPECT_EQ(of(average), 7);
}

// The mean of s over t with the weight s^9 is 10/11 t: it lags by a tenth of the way, no more.
TEST(RunningAverage, WhatIsLearntSteadilyLagsByAnEleventhOfTheWork) {
  RunningAverage average;
  for (int t = 1; t <= 10'000; ++t)
    if (average.due(t)) average.add(at(static_cast<float>(t)), t);
  EXPECT_NEAR(of(average) / 10'000, 10.0 / 11, 0.006);
}

TEST(RunningAverage, SwingsCancelOut) {
  RunningAverage average;
  for (int t = 1; t <= 2'000; ++t) average.add(at(t % 2 == 0 ? 5 : 3), t);
  EXPECT_NEAR(of(average), 4, 0.02);
}

TEST(RunningAverage, LooksAreFewComparedWithFolds) {
  RunningAverage average;
  int looks = 0;
  for (int t = 1; t <= 100'000; ++t)
    if (average.due(t)) {
      average.add(at(1), t);
      ++looks;
    }
  EXPECT_LT(looks, 2'000);
  EXPECT_GT(looks, 500);
}

TEST(RunningAverage, WhoeverHoldsTheAverageKeepsWhatItWas) {
  RunningAverage average;
  average.add(at(1), 1);
  const auto held = average.blocks();
  average.add(at(9), 2);
  EXPECT_EQ((*held[0])[0], 1);
  EXPECT_GT(of(average), 8.9);
}

TEST(RunningAverage, GoesOnFromWhatWasSaved) {
  RunningAverage one, other;
  one.add(at(1), 100);
  one.add(at(2), 200);
  other.restore(one.blocks(), one.work());
  one.add(at(3), 201);
  other.add(at(3), 201);
  EXPECT_EQ(of(one), of(other));
  other.add(at(50), 150);  // The clock of work does not run back.
  EXPECT_EQ(of(one), of(other));
}

}  // namespace
}  // namespace souk::train
