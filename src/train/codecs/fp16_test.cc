#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "train/codecs/codec.h"
#include "train/codecs/half.h"
#include "train/testing/updates.h"

namespace souk::train {
namespace {

// IEEE 754-2019, binary16; what saturates is our choice.
TEST(Half, KnownValues) {
  const struct {
    float value;
    std::uint16_t half;
  } cases[] = {
      {0, 0},
      {-0.F, 0x8000},
      {1, 0x3c00},
      {-2, 0xc000},
      {65504, 0x7bff},
      {65505, 0x7bff},
      {1e30F, 0x7bff},
      {-1e30F, 0xfbff},
      {0x1p-14F, 0x0400},
      {0x1p-24F, 0x0001},
      {0x1p-25F, 0x0000},      // A tie, to even.
      {0x1.8p-24F, 0x0002},    // A tie, to even.
      {1 + 0x1p-11F, 0x3c00},  // A tie, to even.
      {1 + 0x1p-11F + 0x1p-20F, 0x3c01},
      {std::numeric_limits<float>::infinity(), 0x7c00},
      {-std::numeric_limits<float>::infinity(), 0xfc00},
  };
  for (const auto& c : cases) {
    std::uint16_t half = 0;
    to_half_portably({&c.value, 1}, &half);
    EXPECT_EQ(half, c.half) << c.value;
  }
}

TEST(Half, TheProcessorsWayAndThePortableOneGiveTheSameBits) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  std::vector<float> one(all.size()), other(all.size());
  from_half(all.data(), one);
  from_half_portably(all.data(), other);
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(one[i]), std::bit_cast<std::uint32_t>(other[i])) << i;

  base::Random random(1);
  std::vector<float> values(1 << 20);
  for (auto& v : values) v = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
  std::vector<std::uint16_t> a(values.size()), b(values.size());
  to_half(values, a.data());
  to_half_portably(values, b.data());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], b[i]) << values[i];
}

TEST(Fp16, IsOffByAtMostOnePartIn2048) {
  const auto codec = *make_codec("fp16");
  const auto values = testing::noise(10'001, 1, 1e-3F);
  std::string bytes = "x";  // So that halves lie at odd addresses.
  codec->encode(values, {}, bytes);
  EXPECT_EQ(bytes.size(), 1 + 2 * values.size());
  std::vector<float> out(values.size());
  ASSERT_TRUE(codec->decode(std::string_view(bytes).substr(1), out));
  for (std::size_t i = 0; i < out.size(); ++i)
    ASSERT_NEAR(out[i], values[i], std::max(std::abs(values[i]) / 2048, 0x1p-25F));
  EXPECT_FALSE(codec->decode(bytes, out));
}

}  // namespace
}  // namespace souk::train
