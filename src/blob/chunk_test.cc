#include "blob/chunk.h"

#include <gmock/gmock.h>
#include <zstd.h>

#include <string>

#include "blob/testing/samples.h"

namespace souk::blob {
namespace {

using ::testing::HasSubstr;

TEST(Chunk, ComesBackAsItWasWhateverItsSizeAndKind) {
  for (const std::size_t size : {0u, 1u, 100u, 65'536u, 1u << 20, 4u << 20}) {
    for (const auto& content : {testing::noise(size), testing::prose(size)}) {
      const auto encoded = encode(content);
      EXPECT_LE(encoded.size(), content.size() + 1);
      const auto decoded = decode(encoded, name_of(content));
      ASSERT_TRUE(decoded) << decoded.error().message;
      EXPECT_TRUE(*decoded == content) << size;
    }
  }
}

// What earlier versions wrote, and browsers write: a store, a job or a result of theirs is lost if
// it cannot be read any more.
TEST(Chunk, OnesNamedByBlake2bAreStillRead) {
  const auto text = testing::prose(3'000);
  const auto name = base::blake2b(text);
  std::string frame(1 + ZSTD_compressBound(text.size()), '\1');
  frame.resize(1 + ZSTD_compress(frame.data() + 1, frame.size() - 1, text.data(), text.size(), 1));
  for (const auto& encoded : {std::string(1, '\0') + text, frame}) {
    const auto decoded = decode(encoded, name);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, text);
    EXPECT_TRUE(verify(encoded, name));
  }
}

TEST(Chunk, ATagDoesNotMakeOneHashPassForTheOther) {
  const std::string text = "abc";
  const auto old_name = base::blake2b(text);
  EXPECT_FALSE(decode("\2" + text, old_name));
  EXPECT_FALSE(verify("\2" + text, old_name));
  EXPECT_FALSE(decode(std::string(1, '\0') + text, name_of(text)));
  EXPECT_FALSE(verify(std::string(1, '\0') + text, name_of(text)));
}

TEST(Chunk, VerifyingAndDecodingAgree) {
  for (const auto& content : {testing::noise(300), testing::prose(3'000)}) {
    const auto good = encode(content);
    for (std::size_t bit = 0; bit < good.size() * 8; bit += 5) {
      auto bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
      ASSERT_EQ(verify(bad, name_of(content)).has_value(),
                decode(bad, name_of(content)).has_value())
          << bit;
    }
    EXPECT_TRUE(verify(good, name_of(content)));
  }
  EXPECT_FALSE(verify("", name_of("")));
  EXPECT_FALSE(verify(std::string(kMostEncodedBytes + 1, '\2'), name_of("")));
}

TEST(Chunk, TextIsSentSmallAndNoiseIsLeftAlone) {
  const auto text = testing::prose(1 << 20);
  EXPECT_LT(encode(text).size(), text.size() / 4);
  const auto noise = testing::noise(1 << 20);
  EXPECT_EQ(encode(noise), "\2" + noise);
}

TEST(Chunk, ASmallSavingIsNotWorthCompressing) {
  auto content = testing::noise(100'000);
  content += std::string(3'000, 'x');  // Could save 3%.
  EXPECT_EQ(encode(content)[0], 2);
  content += std::string(20'000, 'x');
  EXPECT_EQ(encode(content)[0], 3);
}

TEST(Chunk, AFlippedBitNeverReachesAJob) {
  for (const auto& content : {testing::noise(300), testing::prose(3'000)}) {
    const auto good = encode(content);
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      auto bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
      const auto decoded = decode(bad, name_of(content));
      // A bit of the frame header may matter to nobody; then the content is still right.
      if (decoded) ASSERT_EQ(*decoded, content) << bit;
      if (!decoded) ASSERT_EQ(decoded.error().code, base::Code::damaged) << bit;
    }
  }
}

TEST(Chunk, OneCutShortOrWithATailIsRefused) {
  const auto content = testing::prose(3'000);
  const auto good = encode(content);
  ASSERT_EQ(good[0], 3);
  for (std::size_t size = 0; size < good.size(); ++size)
    ASSERT_FALSE(decode(std::string_view(good).substr(0, size), name_of(content))) << size;
  EXPECT_FALSE(decode(good + "x", name_of(content)));
  EXPECT_FALSE(decode(good + good.substr(1), name_of(content)));
}

TEST(Chunk, AZipBombIsRefusedBeforeMemoryIsTaken) {
  const std::string bomb(64 << 20, 'a');
  std::string encoded(1 + ZSTD_compressBound(bomb.size()), '\1');
  encoded.resize(
      1 + ZSTD_compress(encoded.data() + 1, encoded.size() - 1, bomb.data(), bomb.size(), 3));
  ASSERT_LT(encoded.size(), 100'000u);
  const auto decoded = decode(encoded, name_of(bomb));
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, HasSubstr("it claims 67108864 bytes"));

  // And one that hides its size.
  std::string hidden(1 + ZSTD_compressBound(bomb.size()), '\1');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  hidden.resize(
      1 + ZSTD_compress2(context, hidden.data() + 1, hidden.size() - 1, bomb.data(), bomb.size()));
  ZSTD_freeCCtx(context);
  const auto second = decode(hidden, name_of(bomb));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("states its size"));
}

TEST(Chunk, OnesThatAreTooLargeOrOfAnUnknownKindAreRefused) {
  const std::string large(kChunkBytes + 1, 'a');
  const auto raw = decode(std::string(1, '\0') + large, name_of(large));
  ASSERT_FALSE(raw);
  EXPECT_THAT(raw.error().message, HasSubstr("at most 4194305"));
  const auto tag = decode("\7abc", name_of("abc"));
  ASSERT_FALSE(tag);
  EXPECT_THAT(tag.error().message, HasSubstr("its tag is 7"));
}

TEST(Chunk, SwappedContentIsRefusedByName) {
  const auto decoded = decode(encode("theirs"), name_of("mine"));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, base::Code::damaged);
  EXPECT_THAT(decoded.error().message, HasSubstr(to_string(name_of("mine"))));
}

TEST(Chunk, NamesAreReadOnlyAsTheyAreWritten) {
  const auto name = name_of("x");
  const auto hex = to_string(name);
  EXPECT_EQ(parse_digest(hex), name);
  auto upper = hex;
  for (auto& c : upper) c = static_cast<char>(std::toupper(c));
  for (const auto& bad : {std::string(), hex.substr(1), hex + "0", upper, "g" + hex.substr(1),
                          " " + hex.substr(1), std::string(64, '/'), std::string(1'000'000, 'a')}) {
    const auto parsed = parse_digest(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, base::Code::invalid);
    EXPECT_LT(parsed.error().message.size(), 200u);
  }
}

}  // namespace
}  // namespace souk::blob
