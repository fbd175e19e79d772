#include "cli/shell/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace souk::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Table offers() {
  using enum Column::Align;
  Table t({{"id"}, {"name", left, 4}, {"price", right}, {"region", left, 0, 1}});
  t.add({"o1", "a-very-long-machine-name", "0.5", "eu"});
  t.add({"o2", "desk", "12.25", "us"});
  return t;
}

TEST(Table, ColumnsLineUpAndNumbersEndTogether) {
  EXPECT_EQ(offers().render({}),
            "id  name                      price  region\n"
            "o1  a-very-long-machine-name    0.5  eu\n"
            "o2  desk                      12.25  us\n");
}

TEST(Table, LongTextsAreCutBeforeColumnsAreLost) {
  EXPECT_EQ(offers().render({.utf8 = true, .width = 30}),
            "id  name         price  region\n"
            "o1  a-very-lon…    0.5  eu\n"
            "o2  desk         12.25  us\n");
}

TEST(Table, WithoutUtf8NothingButAsciiIsPrinted) {
  const auto text = offers().render({.width = 30});
  EXPECT_THAT(text, HasSubstr("a-very-l..."));
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(Table, ColumnsThatHaveNoRoomAreNamed) {
  const auto text = offers().render({.utf8 = true, .width = 22});
  EXPECT_THAT(text, Not(HasSubstr("eu")));
  EXPECT_THAT(text, HasSubstr("(no room for: region)"));
}

TEST(Table, NoLineIsWiderThanTheTerminal) {
  for (int width = 16; width < 60; ++width) {
    const auto text = offers().render({.utf8 = true, .width = width});
    for (const auto line : base::split(text, '\n'))
      if (!line.starts_with("(no room"))
        EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << text;
  }
}

TEST(Table, TextsOfOthersCannotSteerTheTerminal) {
  Table t({{"name"}});
  t.add(
      {std::string("\x1b]0;owned\x07 \xc2\x9b"
                   "31m\nnext")});
  EXPECT_EQ(t.render({}), "name\n?]0;owned? ?31m next\n");
}

TEST(Table, ColoursOnlyWhereTheTerminalShowsThem) {
  Table t({{"state"}});
  t.add({Cell("open", Tone::good)});
  EXPECT_THAT(t.render({}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(t.render({.colour = true}), HasSubstr("\x1b[32mopen\x1b[0m"));
}

TEST(Wrapped, BreaksBetweenWordsAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("one two  three four", 2, 11), "one two\n  three\n  four");
  EXPECT_EQ(wrapped("a-word-that-is-too-long b", 0, 5), "a-word-that-is-too-long\nb");
  EXPECT_EQ(wrapped("no limit at all", 2, 0), "no limit at all");
}

TEST(Elide, KeepsWholeCodePoints) {
  EXPECT_EQ(elide("früh", 4, true), "früh");
  EXPECT_EQ(elide("frühling", 4, true), "frü…");
  EXPECT_EQ(elide("frühling", 5, false), "fr...");
  EXPECT_EQ(elide("abcdef", 2, false), "..");
}

}  // namespace
}  // namespace souk::cli
