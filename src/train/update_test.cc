#include "train/update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>

#include "train/testing/updates.h"

namespace souk::train {
namespace {

using testing::fp32;
using ::testing::HasSubstr;
using testing::noise;

std::vector<float> values_of(const Update& u) {
  std::vector<float> out, scratch(kBlock);
  for (std::size_t i = 0; i < u.count(); ++i) {
    const auto block = u.block(i, scratch);
    out.insert(out.end(), block.begin(), block.end());
  }
  return out;
}

bool is_compressed(const std::string& body) { return body[4] == 1; }

void expect_refused(std::string body, std::size_t size, const char* says) {
  const auto read = Update::read(std::move(body), fp32(), size);
  ASSERT_FALSE(read) << says;
  EXPECT_THAT(read.error().message, HasSubstr(says));
}

TEST(Update, ComesBackBlockByBlockAndChunkByChunkWithEveryCodec) {
  for (const std::size_t size : {1UL, 5UL, kChunk, kChunk + 1, kBlock, 2 * kBlock + 4099}) {
    const auto values = noise(size, size);
    for (const auto name : codec_names()) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(size));
      const auto codec = *make_codec(name);
      std::vector<float> residual(codec->keeps_residual() ? size : 0);
      const auto u = Update::read(pack(values, *codec, residual), *codec, size);
      ASSERT_TRUE(u) << u.error().message;
      ASSERT_EQ(u->count(), (size + kBlock - 1) / kBlock);
      const auto all = values_of(*u);
      ASSERT_EQ(all.size(), size);
      if (!codec->lossy()) EXPECT_EQ(all, values);
      std::vector<float> scratch(kChunk);
      for (std::size_t at = 0; at < size; at += kChunk) {
        const auto chunk = u->chunk(at / kBlock, at % kBlock, scratch);
        ASSERT_EQ(chunk.size(), std::min(kChunk, size - at));
        ASSERT_EQ(std::memcmp(chunk.data(), all.data() + at, chunk.size_bytes()), 0);
      }
    }
  }
}

TEST(Update, Fp32IsUsedWhereItLies) {
  const auto u = *Update::read(pack(noise(100, 1), fp32(), {}), fp32(), 100);
  std::vector<float> scratch(kChunk, 42);
  EXPECT_NE(u.chunk(0, 0, scratch).data(), scratch.data());
  EXPECT_EQ(scratch[0], 42);
}

TEST(Update, MayBeMovedAndCopiedEvenWhenItsBytesAreFew) {
  auto first = *Update::read(pack(std::vector<float>{3}, fp32(), {}), fp32(), 1);
  const auto copy = first;
  const auto moved = std::move(first);
  EXPECT_EQ(values_of(copy), std::vector<float>{3});
  EXPECT_EQ(values_of(moved), std::vector<float>{3});
}

TEST(Update, WhatShrinksIsCompressedAndWhatDoesNotIsNot) {
  const auto dense = noise(kBlock + 17, 2, 1e-3F);
  EXPECT_FALSE(is_compressed(pack(dense, fp32(), {})));
  auto frozen = dense;
  std::fill(frozen.begin(), frozen.begin() + kBlock / 2, 0.F);
  for (const auto& values : {frozen, std::vector<float>(kBlock + 17)}) {
    const auto body = pack(values, fp32(), {});
    EXPECT_TRUE(is_compressed(body));
    EXPECT_LT(body.size(), values.size() * 3);
    EXPECT_EQ(values_of(*Update::read(body, fp32(), values.size())), values);
  }
}

TEST(Update, RefusesBytesThatAreNotAnUpdateOfThisModel) {
  const auto good = pack(std::vector<float>{1, 2, 3}, fp32(), {});
  expect_refused("", 3, "header");
  expect_refused(good.substr(0, 23), 3, "header");
  expect_refused(good.substr(0, 26), 3, "cut short");
  expect_refused(good.substr(0, good.size() - 1), 3, "block 0 of 1 has 12 bytes");
  expect_refused(good + "x", 3, "1 bytes follow");
  expect_refused(good, 4, "it has 3 numbers; the model has 4");
  auto bad = good;
  bad[0] = 'X';
  expect_refused(bad, 3, "SUP1");
  bad = good;
  bad[4] = 2;
  expect_refused(bad, 3, "flags are 2");
  bad = good;
  bad[8] = 'g';
  expect_refused(bad, 3, "not encoded as fp32");
  bad = good;
  bad[24] = 8;
  expect_refused(bad, 3, "8 bytes are not a block of 3 values");
  bad = good;
  bad[27] = '\xff';
  expect_refused(bad, 3, "of which 12 are there");
}

TEST(Update, RefusesABombBeforeItTakesMemory) {
  const auto header = pack(std::vector<float>{1, 2, 3}, fp32(), {}).substr(0, 24);
  const auto with = [&](const std::string& content) {
    auto body = header;
    body[4] = 1;
    std::string frame(ZSTD_compressBound(content.size()), '\0');
    frame.resize(ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), 1));
    return body + frame;
  };
  expect_refused(with(std::string(100'000'000, '\0')), 3, "at most 1040 are accepted");
  expect_refused(with(std::string(2, '\0')), 3, "cannot be listed in 2 bytes");
  const auto good = with(std::string("\x0c\0\0\0", 4) + std::string(12, '\0'));
  EXPECT_TRUE(Update::read(good, fp32(), 3));
  expect_refused(good + "x", 3, "bytes follow");
  expect_refused(good.substr(0, good.size() - 1), 3, "cut short");
  auto flagged = pack(std::vector<float>{1, 2, 3}, fp32(), {});
  flagged[4] = 1;
  expect_refused(flagged, 3, "not a zstd frame");
}

TEST(Update, NoByteThatIsChangedOnTheWayCanDoMoreThanBeRefused) {
  for (const auto name : codec_names()) {
    const auto codec = *make_codec(name);
    const auto values = noise(kChunk + 100, 3);
    std::vector<float> residual(codec->keeps_residual() ? values.size() : 0);
    const auto good = pack(values, *codec, residual);
    base::Random random(4);
    for (int i = 0; i < 3000; ++i) {
      auto bad = good;
      for (std::uint64_t k = 0; k <= random.below(3); ++k)
        bad[random.below(bad.size())] = static_cast<char>(random.next());
      if (random.chance(3)) bad.resize(random.below(bad.size()));
      const auto read = Update::read(bad, *codec, values.size());
      if (read) EXPECT_EQ(values_of(*read).size(), values.size());
    }
  }
}

std::string all_of(Packing packing, std::size_t most) {
  std::string out;
  for (auto piece = packing.next(); !piece.empty(); piece = packing.next()) {
    EXPECT_LE(piece.size(), most);
    out += piece;
    EXPECT_EQ(packing.given(), out.size());
  }
  return out;
}

TEST(Packing, ALargeUpdateComesBackHoweverItIsCutWithEveryCodec) {
  const std::size_t size = kMostPackedWhole + kBlock + 4099;
  auto values = noise(size, 5);
  std::fill_n(values.begin(), kBlock, 0.5F);  // A block that compresses.
  for (const auto name : codec_names()) {
    SCOPED_TRACE(std::string(name));
    const auto codec = *make_codec(name);
    std::vector<float> residual(codec->keeps_residual() ? size : 0, 0.001F), after = residual;
    const auto body = all_of({values, *codec, residual, 1 << 20}, 1 << 20);
    EXPECT_EQ(body, all_of({values, *codec, residual, 777'777}, 777'777)) << "packed again";
    EXPECT_TRUE(body.starts_with("SUP2"));
    const auto u = Update::read(body, *codec, size);
    ASSERT_TRUE(u) << u.error().message;
    const auto whole = Update::read(pack(values, *codec, after), *codec, size);
    ASSERT_TRUE(whole);
    EXPECT_EQ(values_of(*u), values_of(*whole));
    std::vector<float> scratch(kChunk);
    for (const std::size_t at : {std::size_t{0}, kChunk, 3 * kBlock, kChunk})
      EXPECT_EQ(std::memcmp(u->chunk(at / kBlock, at % kBlock, scratch).data(),
                            values_of(*whole).data() + at, kChunk * sizeof(float)),
                0);
    if (!codec->keeps_residual()) continue;
    advance_residual(values, *codec, residual);
    EXPECT_EQ(residual, after);
  }
}

TEST(Packing, ASmallUpdateIsWhatPackMakes) {
  const auto values = noise(1000, 3);
  EXPECT_EQ(all_of({values, fp32(), {}, 100}, 100), pack(values, fp32(), {}));
}

TEST(Packing, WhatIsDamagedIsRefused) {
  const auto framed = [](std::uint32_t stored, std::uint32_t length, std::string_view bytes) {
    std::string out = "SUP2";
    out.append(4, '\0').append("fp32").append(4, '\0');
    const std::uint64_t floats = 2;
    out.append(reinterpret_cast<const char*>(&floats), sizeof floats);
    out.append(reinterpret_cast<const char*>(&stored), sizeof stored);
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    return out.append(bytes);
  };
  ASSERT_TRUE(Update::read(framed(8, 8, "12345678"), fp32(), 2));
  expect_refused(framed(8, 8, "1234567"), 2, "has 8 bytes, of which 7 are there");
  expect_refused(framed(8, 8, "123456789"), 2, "1 bytes follow");
  expect_refused(framed(8, 4, "12345678"), 2, "expand to 4");
  expect_refused(framed(4, 4, "1234"), 2, "block 0");
  expect_refused(framed(4, 8, "1234"), 2, "zstd");
  expect_refused(framed(4, 1 << 30, "1234"), 2, "at most");
  expect_refused(framed(0, 8, "").substr(0, 30), 2, "cut short");
  std::string frame(ZSTD_compressBound(12), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), "aaaaaaaaaaaa", 12, 1));
  const auto size = static_cast<std::uint32_t>(frame.size());
  frame.resize((frame.size() + 3) / 4 * 4);
  if (size < 1000) expect_refused(framed(std::min(size, 7U), 8, frame), 2, "");
  auto flagged = framed(8, 8, "12345678");
  flagged[4] = 1;
  expect_refused(flagged, 2, "flags");
}

TEST(UpdateReader, BlocksCanBeReadAsSoonAsTheyAreThereHoweverTheBodyIsCut) {
  const std::size_t size = 2 * kBlock + 5;
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i)
    values[i] = static_cast<float>(i % 1'013) + 0.123F * static_cast<float>(i % 7);
  const auto& codec = testing::fp32();
  Packing framed(values, codec, {}, 64 << 20);
  for (const auto& body : {pack(values, codec, {}), std::string(framed.next())}) {
    const auto kept_body = kept(body);
    for (const std::size_t step : {1'000'003, 4096 * 3 + 1}) {
      UpdateReader reader(kept_body, codec, size);
      std::size_t ready = 0;
      for (std::size_t at = 0; at < body.size(); at = std::min(body.size(), at + step)) {
        ASSERT_TRUE(reader.arrived(at));
        EXPECT_GE(reader.ready(), ready);
        // No block before its bytes.
        EXPECT_LE(reader.ready() * kBlock * sizeof(float), at);
        for (; ready < reader.ready(); ++ready)
          EXPECT_EQ(reader.update().chunk(ready, 0, {})[3], values[ready * kBlock + 3]);
      }
      ASSERT_TRUE(reader.arrived(body.size()));
      const auto whole = reader.finish();
      ASSERT_TRUE(whole);
      EXPECT_EQ(whole->block(2, {}).back(), values.back());
      EXPECT_EQ(whole->only(1).block(0, {})[7], values[kBlock + 7]);
    }
  }
}

}  // namespace
}  // namespace souk::train
