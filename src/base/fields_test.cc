#include "base/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace souk::base {
namespace {

SOUK_ENUM(Colour, red, green, dark_blue, default_)

struct Pair {
  int left = 0;
  std::string right;
  SOUK_FIELDS(Pair, left, right)
};

struct Empty {
  SOUK_FIELDS(Empty)
};

class Private {
 public:
  explicit Private(int secret) : secret_(secret) {}
  SOUK_FIELDS(Private, secret_)

 private:
  int secret_;
};

struct Wide {
  int a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,
      a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32;
  SOUK_FIELDS(Wide, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
              a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32)
};

TEST(Fields, AreVisitedInTheOrderTheJournalRelies) {
  const Pair pair{3, "x"};
  std::vector<std::string> seen;
  for_each_field(pair, [&](std::string_view name, const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const int&>)
      seen.push_back(std::string(name) + "=" + std::to_string(value));
    else
      seen.push_back(std::string(name) + "=" + value);
  });
  EXPECT_THAT(seen, ::testing::ElementsAre("left=3", "right=x"));
}

TEST(Fields, CanBeWrittenThrough) {
  Pair pair;
  for_each_field(pair, [](std::string_view, auto& value) {
    if constexpr (std::is_same_v<decltype(value), int&>) value = 7;
  });
  EXPECT_EQ(pair.left, 7);
}

TEST(Fields, ReachPrivateMembersAndNoMembersAtAll) {
  const Private hidden(5);
  for_each_field(hidden, [](std::string_view name, int value) {
    EXPECT_EQ(name, "secret_");
    EXPECT_EQ(value, 5);
  });
  Empty empty;
  for_each_field(empty, [](std::string_view, int&) { FAIL(); });
  static_assert(Described<Pair> && Described<Empty> && !Described<int>);
}

TEST(Fields, OfAWideStructAreAllThere) {
  Wide wide{};
  int n = 0;
  for_each_field(wide,
                 [&](std::string_view name, int&) { EXPECT_EQ(name, "a" + std::to_string(++n)); });
  EXPECT_EQ(n, 32);
}

TEST(Enum, IsSpelledOneWayOnly) {
  static_assert(NamedEnum<Colour> && !NamedEnum<int>);
  EXPECT_EQ(to_string(Colour::dark_blue), "dark_blue");
  EXPECT_EQ(from_string<Colour>("green"), Colour::green);
  EXPECT_EQ(to_string(Colour::default_), "default") << "keywords take an underscore nobody sees";
  EXPECT_EQ(from_string<Colour>("default"), Colour::default_);
  for (const auto* text : {"", "Green", "dark-blue", "gree", "greens", "default_"})
    EXPECT_EQ(from_string<Colour>(text), std::nullopt) << text;
  for (const auto name : names_of(Colour{})) EXPECT_EQ(to_string(*from_string<Colour>(name)), name);
}

}  // namespace
}  // namespace souk::base
