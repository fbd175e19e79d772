#include "cli/shell/terminal.h"

#include <gmock/gmock.h>

namespace souk::cli {
namespace {

TEST(PrintableLines, NothingThatOthersWroteMovesTheCursorOrTheWindow) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"plain\tand\nlines\n", "plain\tand\nlines\n"},
      {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac"},
      {"a\x1b[2Jb", "ab"},                 // Clears the screen.
      {"a\x1b[1;31;5mb\x1b[mc", "abc"},    // Colours that are not ours.
      {"a\x1b]0;title\ab", "ab"},          // The window's title, ended by BEL
      {"a\x1b]0;title\x1b\\b", "ab"},      // or by ST.
      {"a\x1b]52;c;cm0gLXJm\nb", "a\nb"},  // The clipboard; never ended.
      {"a\x1bPq#0\x1b\\b", "ab"},          // A picture.
      {"a\x1b"
       "cb",
       "acb"},  // Resets the terminal.
      {"a\x1b", "a"},
      {"a\x1b[", "a"},
      {"a\x1b[12", "a"},
      {"\x1b[12\nb", "\nb"},
      {"a\bb\x07"
       "c\x7f",
       "a?b?c?"},
      {"a\xc2\x9b"
       "2Jb",
       "a?2Jb"},  // CSI of eight-bit terminals.
      {"done 1%\rdone 2%\r\n", "done 1%\ndone 2%\n"},
      {"abc\xe2\x80\xae"
       "fdp.exe\xe2\x81\xa9",
       "abc?fdp.exe?"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(printable_lines(text), shown);
}

TEST(PrintableLines, OurOwnColoursStay) {
  for (const auto tone : {Tone::good, Tone::warning, Tone::bad, Tone::dim, Tone::strong}) {
    const auto text = paint("well", tone, {.colour = true});
    EXPECT_EQ(printable_lines(text), text);
    EXPECT_EQ(printable_lines(text, Colours::none), "well") << "from a program";
  }
}

}  // namespace
}  // namespace souk::cli
