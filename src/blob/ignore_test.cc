#include "blob/ignore.h"

#include <gtest/gtest.h>

#include <string>

namespace souk::blob {
namespace {

struct Case {
  const char* patterns;
  const char* path;  // With '/' at the end: a folder.
  bool ignored;
};

// Answers as `git check-ignore` gives them.
constexpr Case kCases[] = {
    {"", "a", false},
    {"# a\n\n", "a", false},
    {"\\#a", "#a", true},
    {"\\!a", "!a", true},
    {"a", "a", true},
    {"a\r\n", "a", true},
    {"a  \n", "a", true},
    {"a\\ ", "a ", true},
    {"a", "d/a", true},
    {"a", "ab", false},
    {"a", "d/e/a/", true},
    {"*.pyc", "x.pyc", true},
    {"*.pyc", "d/x.pyc", true},
    {"*.pyc", "x.pyc.txt", false},
    {"*.py[cod]", "x.pyo", true},
    {"*.py[cod]", "x.pyx", false},
    {"[a-c]", "b", true},
    {"[!a-c]", "b", false},
    {"[^a-c]", "d", true},
    {"[]x]", "]", true},
    {"[a", "a", false},
    {"\\*", "*", true},
    {"\\*", "a", false},
    {"?", "a", true},
    {"?", "ab", false},
    {"a*b*c", "axxbxxc", true},
    {"a*b*c", "axxbxx", false},
    {"a*bc", "abcbc", true},
    {"/a", "a", true},
    {"/a", "d/a", false},
    {"d/a", "d/a", true},
    {"d/a", "e/d/a", false},
    {"a/", "a/", true},
    {"a/", "a", false},
    {"a/", "d/a/", true},
    {"d/a/", "e/d/a/", false},
    {"a*d", "a/d", false},
    {"/a?d", "a/d", false},
    {"**/a", "a", true},
    {"**/a", "d/e/a", true},
    {"**/d/a", "e/d/a", true},
    {"a/**", "a/", false},
    {"a/**", "a/b", true},
    {"a/**", "a/b/c", true},
    {"a/**/b", "a/b", true},
    {"a/**/b", "a/x/y/b", true},
    {"a/**/b", "a/x/y/c", false},
    {"a/**/b/**/c", "a/b/b/c", true},
    {"**", "a", true},
    {"*.log\n!keep.log", "keep.log", false},
    {"*.log\n!keep.log", "d/keep.log", false},
    {"*.log\n!keep.log", "other.log", true},
    {"!keep.log\n*.log", "keep.log", true},
    {"*\n!*.py", "a.py", false},
    {"*\n!*.py", "a.txt", true},
    {"/", "a", false},
};

TEST(Ignore, LeavesOutWhatGitWould) {
  for (const auto& [patterns, path, ignored] : kCases) {
    const auto ignore = Ignore::parse(patterns);
    ASSERT_TRUE(ignore);
    std::string_view plain = path;
    const bool folder = plain.ends_with('/');
    if (folder) plain.remove_suffix(1);
    EXPECT_EQ(ignore->matches(plain, folder), ignored) << '"' << patterns << "\" on " << path;
  }
}

TEST(Ignore, AHostilePatternDoesNotTakeForever) {
  std::string pattern, parts;
  for (int i = 0; i < 300; ++i) pattern += "*a";
  for (int i = 0; i < 150; ++i) parts += "**/a/";
  const auto ignore = Ignore::parse(pattern + "b\n" + parts + "b");
  ASSERT_TRUE(ignore);
  std::string deep;
  for (int i = 0; i < 1'000; ++i) deep += "a/";
  EXPECT_FALSE(ignore->matches(std::string(255, 'a'), false));
  EXPECT_FALSE(ignore->matches(deep + "c", false));
}

TEST(Ignore, TheNumberAndLengthOfPatternsIsBounded) {
  std::string many;
  for (int i = 0; i < 10'001; ++i) many += "a\n";
  ASSERT_FALSE(Ignore::parse(many));
  EXPECT_EQ(Ignore::parse(many).error().code, base::Code::too_large);
  EXPECT_FALSE(Ignore::parse(std::string(1'001, 'a')));
}

}  // namespace
}  // namespace souk::blob
