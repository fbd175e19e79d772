#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "train/codecs/codec.h"
#include "train/testing/updates.h"

namespace souk::train {
namespace {

std::vector<float> through_int8(const std::vector<float>& values) {
  const auto codec = *make_codec("int8");
  std::string bytes;
  codec->encode(values, {}, bytes);
  EXPECT_EQ(bytes.size(), values.size() + (values.size() + 1023) / 1024 * 4);
  std::vector<float> out(values.size());
  EXPECT_TRUE(codec->decode(bytes, out));
  return out;
}

TEST(Int8, KnownValues) {
  EXPECT_THAT(through_int8({127, -127, 1, 0.4F, 0.6F, -0.6F, 0}),
              ::testing::ElementsAre(127, -127, 1, 0, 1, -1, 0));
}

TEST(Int8, IsOffByAtMostA254thOfTheLargestOfItsRun) {
  for (const auto scale : {1e-34F, 1e-3F, 1.F, 1e36F}) {
    const auto values = testing::noise(3 * 1024 + 7, 1, scale);
    const auto out = through_int8(values);
    for (std::size_t run = 0; run < values.size(); run += 1024) {
      float largest = 0;
      const auto end = std::min(values.size(), run + 1024);
      for (auto i = run; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
      for (auto i = run; i < end; ++i)
        ASSERT_LE(std::abs(out[i] - values[i]), largest / 254 * 1.0001F) << scale << " " << i;
    }
  }
}

TEST(Int8, WhatIsTooSmallForAScaleBecomesZero) {
  EXPECT_THAT(through_int8({1e-37F, -1e-40F}), ::testing::ElementsAre(0, 0));
}

TEST(Int8, AnOutlierSpoilsItsOwnRunOnly) {
  auto values = testing::noise(2048, 1);
  values[5] = 1e6F;
  const auto out = through_int8(values);
  EXPECT_EQ(out[5], 1e6F);
  for (std::size_t i = 1024; i < 2048; ++i) ASSERT_NEAR(out[i], values[i], 0.02);
}

TEST(Int8, RefusesOtherLengths) {
  const auto codec = *make_codec("int8");
  EXPECT_TRUE(codec->check(std::string(1024 + 4, 'x'), 1024));
  EXPECT_FALSE(codec->check(std::string(1024, 'x'), 1024));
  EXPECT_FALSE(codec->check(std::string(1025 + 4, 'x'), 1025));
  EXPECT_TRUE(codec->check(std::string(1025 + 8, 'x'), 1025));
}

}  // namespace
}  // namespace souk::train
