#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "train/codecs/codec.h"
#include "train/testing/bowl.h"
#include "train/testing/updates.h"

namespace souk::train {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::through;

double squares(const std::vector<float>& values) {
  double sum = 0;
  for (const auto v : values) sum += static_cast<double>(v) * static_cast<double>(v);
  return sum;
}

TEST(Sparse2, SendsTheLargestAsOneOfTwoLevelsAndKeepsTheRest) {
  const auto codec = *make_codec("sparse2:0.6");
  std::vector<float> residual(5);
  // 4 and 5 are nearer to each other than to 2: the levels are 2 and 4.5.
  EXPECT_THAT(through(*codec, {1, -4, 0.5F, 2, 5}, residual), ElementsAre(0, -4.5F, 0, 2, 4.5F));
  EXPECT_THAT(residual, ElementsAre(1, 0.5F, 0.5F, 0, 0.5F));
  // What was kept is sent once it is large enough.
  EXPECT_THAT(through(*codec, {4, 0, 0, 0, 0}, residual), ElementsAre(5, 0.5F, 0.5F, 0, 0));
  EXPECT_THAT(residual, ElementsAre(0, 0, 0, 0, 0.5F));
}

TEST(Sparse2, TinyVectors) {
  const auto codec = *make_codec("sparse2");
  for (const std::size_t size : {1UL, 2UL, 3UL, 64UL}) {
    std::vector<float> values(size), residual(size);
    values.back() = -0.25F;
    EXPECT_EQ(through(*codec, values, residual), values);
    EXPECT_THAT(residual, Each(0)) << size;
  }
  std::string bytes;
  codec->encode({}, {}, bytes);
  EXPECT_EQ(bytes, "");
  EXPECT_TRUE(codec->check("", 0));
}

TEST(Sparse2, ABlockOfZerosTakesItsTableOnly) {
  const auto codec = *make_codec("sparse2");
  std::vector<float> residual(3 * kChunk), out(3 * kChunk, 1);
  std::string bytes;
  codec->encode(std::vector<float>(3 * kChunk), residual, bytes);
  EXPECT_EQ(bytes, std::string(3 * 12, '\0'));
  ASSERT_TRUE(codec->decode(bytes, out));
  EXPECT_THAT(out, Each(0));
}

TEST(Sparse2, IsMoreThan146TimesSmallerThanFp32) {
  const std::size_t size = 4 * kBlock;
  const auto values = testing::noise(size, 1, 1e-3F);
  const auto codec = *make_codec("sparse2");
  std::vector<float> residual(size);
  const auto plain = pack(values, testing::fp32(), {}).size();
  // The first update, and one of a residual that many have left behind.
  for (int round = 1; round <= 20; ++round) {
    const auto ratio =
        static_cast<double>(plain) / static_cast<double>(pack(values, *codec, residual).size());
    EXPECT_GT(ratio, 165) << round;
    EXPECT_LT(ratio, 185) << round;
    if (round == 1 || round == 20)
      fmt::print("sparse2, update {}: {:.1f} times smaller than fp32\n", round, ratio);
  }
}

// Of what is sent. The best two levels of the tail of normal values beyond 2.4 deviations are off
// by a few percent of its squares.
TEST(Sparse2, TwoLevelsAreNearTheValues) {
  const auto codec = *make_codec("sparse2");
  const auto values = testing::noise(kBlock, 1);
  std::vector<float> residual(kBlock), sent, off;
  const auto out = through(*codec, values, residual);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0) continue;
    sent.push_back(values[i]);
    off.push_back(out[i] - values[i]);
    ASSERT_EQ(std::signbit(out[i]), std::signbit(values[i])) << i;
  }
  EXPECT_EQ(sent.size(), kBlock / 64);
  EXPECT_LT(squares(off), 0.01 * squares(sent));
  EXPECT_GT(squares(sent), 0.1 * squares(values));
}

// Error feedback: nothing is lost, only late.
TEST(Sparse2, WhatIsSentAndWhatIsKeptMakeUpTheWhole) {
  const auto codec = *make_codec("sparse2");
  std::vector<float> residual(9000), sent(9000), whole(9000);
  const auto truth = testing::noise(9000, 99, 0.1F);
  for (std::uint64_t round = 1; round <= 1000; ++round) {
    auto values = testing::noise(9000, round, 0.1F);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += truth[i];
    const auto out = through(*codec, values, residual);
    for (std::size_t i = 0; i < out.size(); ++i) {
      sent[i] += out[i];
      whole[i] += values[i];
    }
  }
  for (std::size_t i = 0; i < sent.size(); ++i)
    ASSERT_NEAR(sent[i] + residual[i], whole[i], 0.02) << i;
  // What is still to come is little beside what has come.
  EXPECT_LT(squares(residual), 0.02 * squares(whole));
}

TEST(Sparse2, FarApartAndAtTheEdgesOfChunks) {
  const auto codec = *make_codec("sparse2:0.0001");
  for (const std::size_t at : {0UL, 254UL, 255UL, 256UL, 510UL, 4095UL, 4096UL, 20'000UL}) {
    std::vector<float> values(20'001), residual(20'001);
    values[at] = 5;
    EXPECT_EQ(through(*codec, values, residual), values) << at;
  }
}

TEST(Sparse2, SizesOfEveryOrderComeThrough) {
  const auto codec = *make_codec("sparse2:0.001");
  for (const auto scale : {1e-44F, 1e-30F, 1.F, 3e38F}) {
    std::vector<float> values(2 * kChunk), residual(2 * kChunk);
    values[7] = scale;
    values[kChunk + 7] = -1e-20F;  // A chunk has levels of its own.
    EXPECT_EQ(through(*codec, values, residual), values) << scale;
  }
}

TEST(Sparse2, WhatIsNotFiniteSpoilsItsChunkOnly) {
  const auto codec = *make_codec("sparse2");
  for (const auto bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    auto values = testing::noise(2 * kChunk, 1);
    values[5] = bad;
    std::vector<float> residual(values.size());
    const auto out = through(*codec, values, residual);
    EXPECT_FALSE(std::isfinite(out[5]));
    for (std::size_t i = kChunk; i < out.size(); ++i) ASSERT_TRUE(std::isfinite(out[i])) << i;
    // It is not sent again with the next update.
    for (const auto v : residual) ASSERT_TRUE(std::isfinite(v));
  }
}

TEST(Sparse2, RefusesBlocksThatSayMoreThanTheyHold) {
  const auto codec = *make_codec("sparse2");
  const auto block = [](std::uint16_t gaps, std::uint16_t values, const std::string& rest) {
    std::string out(12, '\0');
    std::memcpy(out.data(), &gaps, 2);
    std::memcpy(out.data() + 2, &values, 2);
    return out + rest;
  };
  EXPECT_TRUE(codec->check(block(1, 1, std::string(2, '\0')), 5));
  EXPECT_TRUE(codec->check(block(0, 0, ""), 5));
  EXPECT_TRUE(codec->check(block(5, 5, std::string(7, '\0')), 5));
  EXPECT_FALSE(codec->check(block(1, 1, std::string(3, '\0')), 5)) << "bytes follow";
  EXPECT_FALSE(codec->check(block(1, 1, std::string(1, '\0')), 5)) << "cut short";
  EXPECT_FALSE(codec->check(block(1, 2, std::string(2, '\0')), 5)) << "a value without a gap";
  EXPECT_FALSE(codec->check(block(6, 6, std::string(8, '\0')), 5)) << "more than there are";
  EXPECT_FALSE(codec->check(block(1, 1, std::string("\x05\0", 2)), 5)) << "past the end";
  EXPECT_TRUE(codec->check(block(1, 1, std::string("\x04\0", 2)), 5));
  EXPECT_FALSE(codec->check(block(1, 0, "\xff"), 254)) << "skips past the end";
  EXPECT_FALSE(codec->check(block(65535, 65535, std::string(100, '\0')), 5));
  EXPECT_FALSE(codec->check("", 5));
  EXPECT_FALSE(codec->check(std::string(12, '\0'), kChunk + 1)) << "a table of one entry for two";
}

// An update moves one number in 64, and what is left out comes late: rates that suit fp32 may be
// too high, so both learn at a small one here.
TEST(Sparse2, LearnsAboutAsFarAsFp32InTheSameUnits) {
  const auto rule = testing::rule("fedavg", {}, 10);
  testing::Bowl bowl{.size = 640, .units = 15'000, .steps = 2, .lr = 0.01F};
  const auto plain = testing::Training(bowl, *rule).run();
  bowl.codec = "sparse2";
  const auto sparse = testing::Training(bowl, *rule).run();
  fmt::print("distance left: fp32 {:.4f}, sparse2 {:.4f}\n", plain, sparse);
  EXPECT_LT(plain, 0.02);
  EXPECT_LT(sparse, plain + 0.02);
}

}  // namespace
}  // namespace souk::train
