#include "mechanism/auction/tpd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/searches.h"

namespace souk::mechanism {
namespace {

using testing::asks;
using testing::bids;
using testing::clear;
using ::testing::ElementsAre;
using testing::random_book;
using namespace base::literals;

// The rule of economics.md, for each way the sides can compare.
TEST(Tpd, TheLongerSideTradesAtThePriceOfItsBestLoser) {
  const struct {
    const char* name;
    std::vector<Bid> bids;
    std::vector<Ask> asks;
    std::int64_t deals;
    Credits pay, get;
  } cases[] = {
      {"as many: all at r", bids({9, 7, 4}), asks({3, 4, 8}), 2, 5_cr, 5_cr},
      {"more bids: pay the best loser", bids({9, 8, 7, 6}), asks({3, 4}), 2, 7_cr, 5_cr},
      {"more asks: get the best loser's", bids({9, 3}), asks({1, 2, 4}), 1, 5_cr, 2_cr},
      {"the threshold itself takes part", bids({5}), asks({5}), 1, 5_cr, 5_cr},
      {"a loser at the threshold", bids({6, 5}), asks({1}), 1, 5_cr, 5_cr},
      {"no bids above", bids({4}), asks({1}), 0, 0_cr, 0_cr},
      {"no asks below", bids({9}), asks({6}), 0, 0_cr, 0_cr},
  };
  for (const auto& c : cases) {
    const auto out = clear(Tpd(5_cr), c.bids, c.asks);
    EXPECT_EQ(out.trades(), c.deals) << c.name;
    EXPECT_EQ(out.buyers_pay, c.pay) << c.name;
    EXPECT_EQ(out.sellers_get, c.get) << c.name;
    const bool at_threshold = c.deals > 0 && c.pay == 5_cr && c.get == 5_cr;
    EXPECT_EQ(out.outcome.price, at_threshold ? std::optional(5_cr) : std::nullopt) << c.name;
  }
}

TEST(Tpd, TheThresholdIsTheReferenceUnlessGiven) {
  EXPECT_EQ(clear(Tpd(), bids({9}), asks({1}), 4_cr).outcome.price, 4_cr);
  EXPECT_EQ(clear(Tpd(6_cr), bids({9}), asks({1}), 4_cr).outcome.price, 6_cr);
}

TEST(Tpd, SeveralUnitsPayForTheUnitsTheyDisplace) {
  // Three units for sale at 5: the first two displace 6 and nothing, the third displaces 6.
  const auto out = clear(Tpd(5_cr), {{1, 9_cr, 2}, {2, 8_cr}, {3, 6_cr}}, {{1, 1_cr, 3}});
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 0, 2, 5.5_cr, 5_cr}, Trade{1, 0, 1, 6_cr, 5_cr}));
  // A bid cut by the supply does not compete with itself.
  EXPECT_EQ(clear(Tpd(5_cr), {{1, 9_cr, 9}}, {{1, 1_cr, 3}}).outcome.price, 5_cr);
}

TEST(Tpd, AveragesAreRoundedInThePlatformsFavour) {
  const auto buy =
      clear(Tpd(Credits(5)), {{1, Credits(9), 2}, {2, Credits(6)}}, {{1, Credits(1), 2}});
  EXPECT_EQ(buy.buyers_pay, Credits(6));  // 6 + 5 for two.
  const auto sell =
      clear(Tpd(Credits(5)), {{1, Credits(9), 2}}, {{1, Credits(1), 2}, {2, Credits(4)}});
  EXPECT_EQ(sell.sellers_get, Credits(4));  // 4 + 5 for two.
}

TEST(Tpd, GangsGetWhatOthersLeaveOverAndBearOnNoOtherBuyer) {
  const auto out =
      clear(Tpd(5_cr), {{1, 9_cr, 4, 3}, {2, 6_cr, 2}, {3, 8_cr, 2, 2}}, {{1, 1_cr, 4}});
  EXPECT_EQ(out.bought(0), 0);
  EXPECT_EQ(out.bought(1), 2);
  EXPECT_EQ(out.bought(2), 2);
  EXPECT_EQ(out.outcome.price, 5_cr);
}

TEST(Tpd, EveryOutcomeIsLegalWithoutADeficit) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random);
    ASSERT_EQ(testing::fault(Tpd(), book, seed), "") << "seed " << seed;
    const auto out = clear(Tpd(), book);
    ASSERT_TRUE(fit_to_settle(out.outcome)) << "seed " << seed;
    for (const auto& t : out.outcome.trades)
      ASSERT_TRUE(t.pays >= book.reference && book.reference >= t.gets) << "seed " << seed;
  }
}

// Prices are multiples of 60, so that averages over up to five units are exact.
TEST(Tpd, LyingAboutPriceOrUnitsNeverPays) {
  EXPECT_EQ(
      testing::first_lie(
          Tpd(), {1500, {.most_bids = 5, .most_asks = 5, .most_units = 3, .highest_micro = 8}, 60},
          {.highest_micro = 480, .step = 30, .units = true}),
      "");
}

TEST(Tpd, FalseNamesNeverPay) {
  const auto no_gang = [](const Book& book, Side side, std::size_t i) {
    return side == Side::sellers || book.bids[i].gang <= 1;
  };
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    const auto book = testing::scaled(
        random_book(random, {.most_bids = 4, .most_asks = 4, .most_units = 2, .highest_micro = 3}),
        60);
    ASSERT_EQ(testing::profitable_names(Tpd(), book, {.highest_micro = 180, .step = 30}, no_gang),
              "")
        << "seed " << seed;
  }
}

TEST(Tpd, RoundingLeavesAtMostAMicroCreditPerUnitToBeGained) {
  EXPECT_EQ(
      testing::first_lie(
          Tpd(), {1000, {.most_bids = 5, .most_asks = 5, .most_units = 4, .highest_micro = 10}},
          {.highest_micro = 10, .units = true, .spare_per_unit = 1}),
      "");
}

TEST(Tpd, TheOrderOfTheBookDoesNotMatterBeyondTiesWithoutGangs) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    auto book = testing::without_ties(random_book(random, {.gangs = false}));
    book.reference = Credits(book.reference.micro * 100);
    ASSERT_EQ(clear(Tpd(), book).by_id(), clear(Tpd(), testing::shuffled(book, random)).by_id())
        << "seed " << seed;
  }
}

TEST(Tpd, ReadsAThresholdAndRefusesAnythingElse) {
  EXPECT_EQ(clear(**make("tpd", {{"r", "6.5"}}), bids({9}), asks({3})).outcome.price, 6.5_cr);
  const auto refused = make("tpd", {{"r", "-1"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "r");
  EXPECT_FALSE(make("tpd", {{"price", "1"}}));
  EXPECT_TRUE(Tpd().fit_for_live());
}

}  // namespace
}  // namespace souk::mechanism
