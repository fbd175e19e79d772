#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "train/codecs/codec.h"
#include "train/testing/updates.h"

namespace souk::train {
namespace {

using ::testing::HasSubstr;

TEST(Codecs, AMistypedNameIsAnsweredWithTheNearest) {
  const struct {
    const char *spec, *message, *hint;
  } cases[] = {
      {"fp23", "'fp23'", "'fp32'"},
      {"gzip", "'gzip'", "fp32, fp16, int8, top-k, sparse2"},
      {"fp32:2", "takes no '2'", "'fp32'"},
      {"fp16:", "colon", "'fp16'"},
      {"top-k:0", "is '0'", "above 0 and up to 1"},
      {"top-k:1.01", "is '1.01'", "top-k:0.01"},
      {"top-k:nan", "is 'nan'", "above 0"},
      {"top-k:0.1x", "is '0.1x'", "above 0"},
      {"sparse", "'sparse'", "'sparse2'"},
      {"sparse2:0", "is '0'", "sparse2:0.015625"},
  };
  for (const auto& c : cases) {
    const auto made = make_codec(c.spec);
    ASSERT_FALSE(made) << c.spec;
    EXPECT_THAT(made.error().message, HasSubstr(c.message));
    EXPECT_THAT(made.error().hint, HasSubstr(c.hint));
    EXPECT_EQ(made.error().field, "codec");
  }
}

TEST(Codecs, EachIsMadeUnderTheNameItIsListedBy) {
  for (const auto& info : codecs()) {
    EXPECT_EQ((*make_codec(info.name))->name(), info.name);
    EXPECT_TRUE(info.what.ends_with('.')) << info.name;
    EXPECT_LE(info.parameters.size(), 1) << info.name;
  }
}

TEST(Codecs, WhatIsNotFiniteIsStillSeenBehindEveryCodec) {
  for (const auto name : codec_names())
    for (const auto bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
      auto values = testing::noise(5000, 1);
      values[4321] = bad;
      const auto codec = *make_codec(name);
      std::vector<float> residual(codec->keeps_residual() ? values.size() : 0), out(values.size());
      std::string bytes;
      codec->encode(values, residual, bytes);
      ASSERT_TRUE(codec->decode(bytes, out));
      EXPECT_FALSE(std::isfinite(out[4321])) << name << " " << bad;
    }
}

TEST(Codecs, NoneTakesMoreBytesThanReadersAccept) {
  for (const auto* spec : {"fp32", "fp16", "int8", "top-k", "top-k:1", "sparse2", "sparse2:1"})
    for (const std::size_t size : {1UL, 2UL, 4095UL, 4097UL, kBlock}) {
      const auto codec = *make_codec(spec);
      std::vector<float> residual(codec->keeps_residual() ? size : 0);
      std::string bytes;
      codec->encode(testing::noise(size, 1), residual, bytes);
      EXPECT_LE(bytes.size(), Codec::most_bytes(size)) << spec << " " << size;
    }
}

TEST(Codecs, ZeroStaysZero) {
  for (const auto name : codec_names()) {
    const auto codec = *make_codec(name);
    std::vector<float> residual(codec->keeps_residual() ? 2000 : 0), out(2000, 1);
    std::string bytes;
    codec->encode(std::vector<float>(2000), residual, bytes);
    ASSERT_TRUE(codec->decode(bytes, out));
    EXPECT_THAT(out, ::testing::Each(0)) << name;
  }
}

}  // namespace
}  // namespace souk::train
