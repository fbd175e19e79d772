#include "base/credits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace souk::base {
namespace {

using namespace literals;

TEST(Credits, AreWrittenAndReadBackExactly) {
  const struct {
    std::int64_t micro;
    const char* text;
  } cases[] = {
      {0, "0"},
      {1, "0.000001"},
      {400'000, "0.4"},
      {-12'000'000, "-12"},
      {3'000'001, "3.000001"},
      {-1, "-0.000001"},
      {1'500'000, "1.5"},
      {10'000'000, "10"},
      {kMostCredits.micro, "1000000000"},
      {-kMostCredits.micro, "-1000000000"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(to_string(Credits(c.micro)), c.text);
    const auto read = parse_credits(c.text);
    ASSERT_TRUE(read) << c.text;
    EXPECT_EQ(read->micro, c.micro) << c.text;
  }
}

TEST(Credits, AnyAmountSurvivesTextUnchanged) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const Credits c(random.between(-kMostCredits.micro, kMostCredits.micro) >> random.below(50));
    ASSERT_EQ(parse_credits(to_string(c)), c) << c.micro;
  }
}

TEST(Credits, OtherSpellingsOfTheSameAmountAreUnderstood) {
  EXPECT_EQ(parse_credits("0.40"), 0.4_cr);
  EXPECT_EQ(parse_credits("007"), 7_cr);
  EXPECT_EQ(parse_credits("1.00000000000"), 1_cr);
  EXPECT_EQ(parse_credits("-0"), 0_cr);
}

TEST(Credits, WhatIsNotAnAmountIsRefusedWithAnExample) {
  for (const auto* text : {"",           "-",           ".",    "1.",        ".5",
                           "+1",         "1e3",         "0x10", " 1",        "1 ",
                           "1,5",        "1.2.3",       "--1",  "1.0000001", "1000000000.000001",
                           "1000000001", "99999999999", "nan",  "inf",       "1cr"}) {
    const auto read = parse_credits(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::invalid);
    EXPECT_THAT(read.error().message, ::testing::HasSubstr(text));
    EXPECT_FALSE(read.error().hint.empty());
  }
}

TEST(Credits, AnHourCostsThePriceAndLessIsRoundedDown) {
  EXPECT_EQ(cost(0.4_cr, 1, hours(1)), 0.4_cr);
  EXPECT_EQ(cost(0.4_cr, 3, minutes(30)), 0.6_cr);
  EXPECT_EQ(cost(0.4_cr, 3, Duration()), 0_cr);
  EXPECT_EQ(cost(1_cr, 1, microseconds(3599)), 0_cr);
  EXPECT_EQ(cost(1_cr, 1, microseconds(3600)), Credits(1));
  EXPECT_EQ(cost(1_cr, 1, microseconds(7199)), Credits(1));
  EXPECT_EQ(cost(kMostCredits, 1, hours(1)), kMostCredits);
}

TEST(Credits, ABillInPiecesEqualsOneBill) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const Credits price(random.between(1, 5'000'000));
    Credits billed;
    Duration run;
    for (int piece = 0; piece < 50; ++piece) {
      run = run + Duration(random.between(1, 100'000'000));
      billed += cost(price, 2, run) - billed;
    }
    ASSERT_EQ(billed, cost(price, 2, run));
  }
}

TEST(Credits, ABudgetLastsExactlyAsLongAsItPays) {
  Random random(3);
  int bounded = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Credits price(random.between(1, 1'000'000'000) >> random.below(30) | 1);
    const Credits budget(random.between(0, kMostCredits.micro) >> random.below(50));
    const auto slots = random.between(1, 1000);
    const auto time = affordable(price, slots, budget);
    ASSERT_LE(cost(price, slots, time), budget) << "step " << i;
    if (time == days(3653)) continue;
    ASSERT_GT(cost(price, slots, time + microseconds(1)), budget) << "step " << i;
    ++bounded;
  }
  EXPECT_GT(bounded, 1000);
  EXPECT_EQ(affordable(0_cr, 1, 0_cr), days(3653)) << "what is free lasts as long as anything may";
}

TEST(Credits, AShareIsRoundedDownAndNeverMoreThanTheWhole) {
  EXPECT_EQ(share(100_cr, 50'000), 5_cr);
  EXPECT_EQ(share(Credits(1), 999'999), 0_cr);
  EXPECT_EQ(share(Credits(3), 500'000), Credits(1));
  EXPECT_EQ(share(kMostCredits, 1'000'000), kMostCredits);
  EXPECT_EQ(share(kMostCredits, 0), 0_cr);
}

TEST(CreditsDeathTest, NegativePricesStopTheServerInsteadOfMinting) {
  EXPECT_DEATH(cost(-1_cr, 1, hours(1)), "CHECK");
  EXPECT_DEATH(affordable(1_cr, 0, 1_cr), "CHECK");
  EXPECT_DEATH(share(1_cr, 1'000'001), "CHECK");
}

}  // namespace
}  // namespace souk::base
