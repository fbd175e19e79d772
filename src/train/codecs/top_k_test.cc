#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "train/codecs/codec.h"
#include "train/testing/updates.h"

namespace souk::train {
namespace {

using ::testing::ElementsAre;
using testing::through;

TEST(TopK, SendsTheLargestAndKeepsTheRest) {
  const auto codec = *make_codec("top-k:0.4");
  std::vector<float> residual(5);
  EXPECT_THAT(through(*codec, {1, -4, 0.5F, 2, 0}, residual), ElementsAre(0, -4, 0, 2, 0));
  EXPECT_THAT(residual, ElementsAre(1, 0, 0.5F, 0, 0));
  // What was kept adds up until it is large enough.
  EXPECT_THAT(through(*codec, {1, 0, 0.5F, 0, 0}, residual), ElementsAre(2, 0, 1, 0, 0));
  EXPECT_THAT(residual, ElementsAre(0, 0, 0, 0, 0));
}

TEST(TopK, OfEqualValuesTheFirstAreSent) {
  const auto codec = *make_codec("top-k:0.5");
  std::vector<float> residual(4);
  EXPECT_THAT(through(*codec, {1, 1, -1, 1}, residual), ElementsAre(1, 1, 0, 0));
}

TEST(TopK, SendsItsShareInAboutThreeBytesEach) {
  const auto codec = *make_codec("top-k");
  const auto values = testing::noise(kBlock, 1, 1e-3F);
  std::vector<float> residual(kBlock);
  const auto out = through(*codec, values, residual);
  EXPECT_EQ(std::ranges::count_if(out, [](float v) { return v != 0; }), 2622);
  std::string bytes;
  std::ranges::fill(residual, 0.F);
  codec->encode(values, residual, bytes);
  EXPECT_LT(bytes.size(), 2622 * 3.3);
}

// Error feedback: nothing is lost, only late.
TEST(TopK, WhatIsSentAndWhatIsKeptMakeUpTheWhole) {
  const auto codec = *make_codec("top-k:0.05");
  std::vector<float> residual(9000), sent(9000), whole(9000);
  for (std::uint64_t round = 1; round <= 50; ++round) {
    const auto values = testing::noise(9000, round);
    const auto out = through(*codec, values, residual);
    for (std::size_t i = 0; i < out.size(); ++i) {
      sent[i] += out[i];
      whole[i] += values[i];
    }
  }
  for (std::size_t i = 0; i < sent.size(); ++i)
    ASSERT_NEAR(sent[i] + residual[i], whole[i], 1e-3) << i;
}

TEST(TopK, FarApartAndAtTheEdgesOfChunks) {
  const auto codec = *make_codec("top-k:0.0001");
  for (const std::size_t at : {0UL, 254UL, 255UL, 256UL, 510UL, 4095UL, 4096UL, 20'000UL}) {
    std::vector<float> values(20'001), residual(20'001);
    values[at] = 5;
    EXPECT_EQ(through(*codec, values, residual), values) << at;
  }
}

TEST(TopK, RefusesBlocksThatSayMoreThanTheyHold) {
  const auto codec = *make_codec("top-k");
  const auto block = [](std::uint16_t gaps, std::uint16_t values, const std::string& rest) {
    std::string out(4, '\0');
    out.append(reinterpret_cast<const char*>(&gaps), 2);
    out.append(reinterpret_cast<const char*>(&values), 2);
    return out + rest;
  };
  EXPECT_TRUE(codec->check(block(1, 1, std::string(3, '\0')), 5));
  EXPECT_TRUE(codec->check(block(0, 0, ""), 5));
  EXPECT_FALSE(codec->check(block(1, 1, std::string(4, '\0')), 5)) << "bytes follow";
  EXPECT_FALSE(codec->check(block(1, 1, std::string(2, '\0')), 5)) << "cut short";
  EXPECT_FALSE(codec->check(block(1, 2, std::string(5, '\0')), 5)) << "a value without a gap";
  EXPECT_FALSE(codec->check(block(1, 1, std::string("\x05\0\0", 3)), 5)) << "past the end";
  EXPECT_TRUE(codec->check(block(1, 1, std::string("\x04\0\0", 3)), 5));
  EXPECT_FALSE(codec->check(block(1, 0, "\xff"), 254)) << "skips past the end";
  EXPECT_FALSE(codec->check("", 5));
}

}  // namespace
}  // namespace souk::train
