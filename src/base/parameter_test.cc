#include "base/parameter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace souk::base {
namespace {

using ::testing::HasSubstr;

constexpr ParameterList kAll{
    {.name = "rate", .high = 10, .default_value = "0.5", .meaning = "Of everything."},
    {.name = "count", .type = ParameterType::whole, .low = 1, .high = 5, .meaning = "Of things."},
    {.name = "price", .type = ParameterType::price, .high = 9, .above_low = true, .meaning = "P."},
    {.name = "side",
     .type = ParameterType::choice,
     .choices = {"left", "right"},
     .default_value = "left",
     .meaning = "Where."},
    {.name = "program", .type = ParameterType::text, .needed = true, .meaning = "To run."},
};

Result<Arguments> read(Arguments::Texts given) {
  given.emplace("program", "true");
  return Arguments::read("the thing", kAll, given);
}

TEST(Arguments, WhatIsNotGivenHasTheDefaultOfItsRow) {
  const auto none = *read({});
  EXPECT_EQ(none.number("rate"), 0.5);
  EXPECT_EQ(none.text("side"), "left");
  EXPECT_FALSE(none.has("count"));
  EXPECT_EQ(none.whole_or("count", 3), 3U);
  EXPECT_EQ(none.price("price"), std::nullopt);
  const auto some = *read({{"rate", "2"}, {"count", "4"}, {"price", "0.25"}, {"side", "right"}});
  EXPECT_EQ(some.number("rate"), 2);
  EXPECT_EQ(some.whole_or("count", 3), 4U);
  EXPECT_EQ(some.price("price"), Credits(250'000));
  EXPECT_EQ(some.text("side"), "right");
}

TEST(Arguments, EveryErrorNamesTheParameterItsValueAndWhatIsAccepted) {
  const struct {
    const char *name, *value, *hint;
  } cases[] = {
      {"rate", "11", "write a number from 0 to 10"},
      {"rate", "1x", "from 0 to 10"},
      {"rate", "nan", "from 0 to 10"},
      {"rate", "", "from 0 to 10"},
      {"count", "2.5", "write a whole number from 1 to 5"},
      {"count", "0", "from 1 to 5"},
      {"price", "0", "at least 0.000001"},
      {"price", "0.0000001", "credits per slot-hour"},
      {"price", "9.1", "from 0 to 9"},
      {"side", "up", "it can be left or right"},
  };
  for (const auto& c : cases) {
    const auto refused = read({{c.name, c.value}});
    ASSERT_FALSE(refused) << c.name << " " << c.value;
    EXPECT_EQ(refused.error().message, std::string(c.name) + " is '" + c.value + "'");
    EXPECT_THAT(refused.error().hint, HasSubstr(c.hint));
    EXPECT_EQ(refused.error().field, c.name);
  }
  const auto unknown = read({{"rat", "1"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "the thing has no parameter 'rat' (given as '1')");
  EXPECT_EQ(unknown.error().hint, "did you mean 'rate'?");
  const auto missing = Arguments::read("the thing", kAll, Arguments::Texts{});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "the thing needs the parameter program");
  EXPECT_EQ(Arguments::read("x", {}, Arguments::Texts{{"a", "1"}}).error().hint, "it has none");
}

TEST(Arguments, NumbersAreHeldToTheSameRows) {
  static constexpr ParameterList kNumbers{
      {.name = "eta", .high = 10, .default_words = "1 / workers", .meaning = "A factor."},
      {.name = "buffer", .type = ParameterType::whole, .low = 1, .high = 256, .meaning = "Of it."}};
  const auto read = [](Arguments::Numbers given) {
    return Arguments::read("the aggregator a", kNumbers, given);
  };
  EXPECT_EQ(read({{"eta", 3}})->number_or("eta", 1), 3);
  EXPECT_EQ(read({})->number_or("eta", 1), 1);
  for (const auto bad : {-1.0, 10.5, std::nan("")}) EXPECT_FALSE(read({{"eta", bad}})) << bad;
  EXPECT_EQ(read({{"buffer", 2.5}}).error().message, "buffer is 2.5");
}

TEST(Arguments, OneValueMayFollowTheColonOfAName) {
  static constexpr ParameterList kOne{
      {.name = "share", .high = 1, .above_low = true, .default_value = "0.01", .meaning = "Sent."}};
  EXPECT_EQ(read_suffix("codec", "top-k", kOne, "top-k:0.5")->number("share"), 0.5);
  EXPECT_EQ(read_suffix("codec", "top-k", kOne, "top-k")->number("share"), 0.01);
  const auto refused = read_suffix("codec", "top-k", kOne, "top-k:0");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the codec top-k: share is '0'");
  EXPECT_EQ(refused.error().hint, "write a number above 0 and up to 1, such as top-k:0.01");
  EXPECT_EQ(refused.error().field, "codec");
  EXPECT_FALSE(read_suffix("codec", "fp32", {}, "fp32:2"));
}

TEST(Table, AMistypedNameIsAnsweredWithTheNearest) {
  struct Fruit {
    std::string_view name;
  };
  static constexpr std::array kFruit{Fruit{"apple"}, Fruit{"pear"}};
  EXPECT_EQ((*find_named<Fruit>(kFruit, "pear", "fruit", "f"))->name, "pear");
  const auto none = find_named<Fruit>(kFruit, "aple", "fruit", "f");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "there is no fruit 'aple'");
  EXPECT_EQ(none.error().hint, "did you mean 'apple'?");
  EXPECT_EQ(none.error().field, "f");
}

}  // namespace
}  // namespace souk::base
