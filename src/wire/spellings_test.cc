#include "wire/spellings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace souk::wire {
namespace {

using ::testing::HasSubstr;

TEST(Memory, GIsAlways1024M) {
  const std::pair<const char*, std::int64_t> rows[] = {
      {"512M", 512},  {"4G", 4096},    {"4g", 4096}, {"4GB", 4096}, {"4 GiB", 4096},
      {"1.5G", 1536}, {"1T", 1 << 20}, {"0M", 0},    {"1K", 1},  // Rounded up: what is asked for
                                                                 // must fit.
  };
  for (const auto& [text, mib] : rows) {
    const auto memory = parse_memory(text);
    ASSERT_TRUE(memory) << text;
    EXPECT_EQ(memory->mib, mib) << text;
  }
}

TEST(Memory, AnAmountWithoutAUnitIsRefusedNotGuessed) {
  for (const auto* text : {"4", "", "G", "-1G", "4X", "4GBs", "1e30T", "nanG", "4  G", "4 "}) {
    const auto memory = parse_memory(text);
    ASSERT_FALSE(memory) << text;
    EXPECT_THAT(memory.error().hint, HasSubstr("4G"));
  }
}

TEST(Memory, ReadsBackWhatItPrints) {
  for (const auto* text : {"512 MiB", "4 GiB", "64 GiB", "1536 MiB"})
    EXPECT_EQ(to_string(*parse_memory(text)), text);
}

TEST(Workers, ANumberOrARange) {
  EXPECT_EQ(parse_workers("2")->max, 2);
  EXPECT_EQ(parse_workers("1..4")->min, 1);
  EXPECT_EQ(parse_workers("1..4")->max, 4);
  EXPECT_EQ(parse_workers("1 .. 4")->max, 4);
  EXPECT_EQ(to_string(*parse_workers("1..4")), "1..4");
  EXPECT_EQ(to_string(*parse_workers("3..3")), "3");
}

TEST(Workers, ARangeThatMakesNoSenseIsRefused) {
  for (const auto* text : {"", "0", "4..1", "1..", "..4", "1...4", "a", "1-4", "99999999999"}) {
    const auto workers = parse_workers(text);
    ASSERT_FALSE(workers) << text;
    EXPECT_THAT(workers.error().hint, HasSubstr("1..4"));
  }
}

SOUK_ENUM(Colour, red, green, dark_blue)

TEST(Names, AnUnknownOneIsToldTheNearest) {
  EXPECT_EQ(*parse_name<Colour>("dark_blue"), Colour::dark_blue);
  const auto near = parse_name<Colour>("gren", "paint");
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().message, "'gren' is not red, green or dark_blue");
  EXPECT_EQ(near.error().hint, "did you mean 'green'?");
  EXPECT_EQ(near.error().field, "paint");
  EXPECT_EQ(parse_name<Colour>("").error().hint, "one of: red, green, dark_blue");
}

TEST(Names, HelpListsThemAll) {
  EXPECT_EQ(one_of<Colour>(), "red, green or dark_blue");
  EXPECT_EQ(one_of(Colour::green), "red, green (default) or dark_blue");
}

TEST(When, ALengthOfTimeCountsFromNow) {
  const base::Time now(1'000'000'000'000'000);
  EXPECT_EQ(*parse_when("3h", now), now + base::hours(3));
  EXPECT_EQ(*parse_when("2027-03-01T22:00:00Z", now), *base::parse_time("2027-03-01T22:00:00Z"));
  EXPECT_FALSE(parse_when("tomorrow", now));
}

}  // namespace
}  // namespace souk::wire
