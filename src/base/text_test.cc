#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace souk::base {
namespace {

using ::testing::ElementsAre;

TEST(Text, TrimsAndSplitsWhatPeopleType) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_THAT(split("a,b,,c", ','), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split(" a , b ", ','), ElementsAre("a", "b"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split("a,", ','), ElementsAre("a", ""));
}

TEST(Text, JoinsBackWhatWasSplit) {
  EXPECT_EQ(join(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join({}, ", "), "");
}

TEST(Text, AMistypedWordFindsTheOneThatWasMeant) {
  constexpr std::array<std::string_view, 4> words{"price", "prices", "budget", "deadline"};
  const struct {
    const char *typed, *meant;
  } cases[] = {
      {"price", "price"},
      {"prcie", "price"},
      {"pirces", "prices"},
      {"budgte", "budget"},
      {"dedline", "deadline"},
      {"deadlin", "deadline"},
      {"colour", ""},
      {"", ""},
      {"xyz", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(nearest(c.typed, words), c.meant) << c.typed;
  EXPECT_EQ(nearest("x", {}), "");
}

// Comparing each of its letters would keep a thread busy for minutes.
TEST(Text, AWordOfMegabytesIsNearNothingAndFoundSoAtOnce) {
  constexpr std::array<std::string_view, 3> words{"price", "budget", "deadline"};
  const std::string letters(std::size_t{64} << 20, 'p');
  EXPECT_EQ(nearest(letters, words), "");
}

TEST(Text, SizesAreReadable) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1'536), "1.5 KiB");
  EXPECT_EQ(bytes_text((1 << 20) - 100), "1 MiB");
  EXPECT_EQ(bytes_text(1'000 << 10), "1000 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{3} << 29), "1.5 GiB");
  EXPECT_EQ(bytes_text(std::uint64_t{2'000} << 40), "2000 TiB");
}

TEST(Text, ACharacterIsNeverCutInTwo) {
  EXPECT_EQ(whole_characters(""), 0u);
  EXPECT_EQ(whole_characters("abc"), 3u);
  EXPECT_EQ(whole_characters("ab\xC3"), 2u);
  EXPECT_EQ(whole_characters("ab\xC3\xA9"), 4u);
  EXPECT_EQ(whole_characters("a\xE2\x82"), 1u);
  EXPECT_EQ(whole_characters("a\xF0\x9F\x98"), 1u);
  EXPECT_EQ(whole_characters("\x80\x80\x80\x80"), 4u);  // Not text at all: passed on as it is.
}

TEST(Text, APathIsBelowItsFolderAndNotBelowOneWithALikeName) {
  EXPECT_TRUE(is_below("a/b", "a"));
  EXPECT_TRUE(is_below("a", "a"));
  EXPECT_FALSE(is_below("ab", "a"));
  EXPECT_FALSE(is_below("a", "a/b"));
}

TEST(Text, AHintNamesTheNearestOrAll) {
  constexpr std::array<std::string_view, 2> words{"price", "budget"};
  EXPECT_EQ(suggest("prize", words), "did you mean 'price'?");
  EXPECT_EQ(suggest("prcie", words), "did you mean 'price'?");
  EXPECT_EQ(suggest("rice", words), "did you mean 'price'?");
  EXPECT_EQ(suggest("ice", words), "one of: price, budget");
  EXPECT_EQ(suggest("colour", words), "one of: price, budget");
}

}  // namespace
}  // namespace souk::base
