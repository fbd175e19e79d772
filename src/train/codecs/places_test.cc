#include "train/codecs/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace souk::train {
namespace {

using ::testing::ElementsAre;

std::vector<std::size_t> chosen(const std::vector<float>& values, double share) {
  Largest largest(values, share);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (largest.take(values[i])) out.push_back(i);
  return out;
}

TEST(Largest, ChoosesByTheSizeAlone) {
  EXPECT_THAT(chosen({1, -4, 0.5F, 2, 3}, 0.4), ElementsAre(1, 4));
  EXPECT_THAT(chosen({1, -4, 0.5F, 2, 3}, 0.41), ElementsAre(1, 3, 4)) << "a part counts as one";
  EXPECT_THAT(chosen({1, -4}, 1e-9), ElementsAre(1)) << "one at least";
}

TEST(Largest, OfEqualValuesTheFirstAreChosen) {
  EXPECT_THAT(chosen({1, 1, -1, 1, 2}, 0.6), ElementsAre(0, 1, 4));
}

TEST(Largest, ZerosAreNeverChosen) {
  EXPECT_THAT(chosen({0, 3, -0.F, 0}, 0.75), ElementsAre(1));
  EXPECT_THAT(chosen({0, 0}, 1), ElementsAre());
}

TEST(Largest, WhatIsNoNumberIsAsLargeAsCanBe) {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(chosen({1e38F, nan, 1, -infinity}, 0.5), ElementsAre(1, 3));
  const std::vector<float> values{1, nan};
  EXPECT_EQ(Largest(values, 1).most(), infinity);
}

TEST(Gaps, EveryPlaceComesBack) {
  const std::vector<std::size_t> places{0, 1, 255, 256, 511, 766, 1021, 1277, 4095};
  std::string bytes = "before";
  GapWriter gaps(bytes);
  for (std::size_t i = 0, next = 0; i < 4096; ++i) {
    if (next < places.size() && places[next] == i)
      gaps.send(), ++next;
    else
      gaps.leave_out();
  }
  const auto written = std::string_view(bytes).substr(6);
  EXPECT_EQ(gaps.bytes(), written.size());
  EXPECT_TRUE(are_gaps(written, places.size(), 4096));
  EXPECT_FALSE(are_gaps(written, places.size(), 4095));
  EXPECT_FALSE(are_gaps(written, places.size() + 1, 4096));
  std::vector<std::size_t> read;
  for_each_place(written, [&](std::size_t place) { read.push_back(place); });
  EXPECT_EQ(read, places);
}

TEST(Gaps, ASkipAtTheEndMayNotLeaveTheBlock) {
  EXPECT_TRUE(are_gaps("\xff", 0, 255));
  EXPECT_FALSE(are_gaps("\xff", 0, 254));
  EXPECT_TRUE(are_gaps("", 0, 0));
}

}  // namespace
}  // namespace souk::train
