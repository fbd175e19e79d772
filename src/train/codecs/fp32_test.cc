#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/codecs/codec.h"

namespace souk::train {
namespace {

TEST(Fp32, LosesNothingAndRefusesOtherLengths) {
  const auto codec = *make_codec("fp32");
  const std::vector<float> values{1, -0.F, 1e-45F, 3.4e38F, 0.1F};
  std::string bytes;
  codec->encode(values, {}, bytes);
  EXPECT_EQ(bytes.size(), 20);
  std::vector<float> out(5);
  ASSERT_TRUE(codec->decode(bytes, out));
  EXPECT_EQ(out, values);
  for (const std::size_t size : {0UL, 4UL, 6UL}) {
    std::vector<float> other(size);
    EXPECT_FALSE(codec->decode(bytes, other)) << size;
  }
  EXPECT_FALSE(codec->check(std::string_view(bytes).substr(1), 5));
}

}  // namespace
}  // namespace souk::train
