#include "mechanism/auction/mcafee.h"

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

const McAfee kMcAfee;

// economics.md, known answers 1 to 4.
TEST(McAfee, TradesAtThePriceOfTheNextPairOrDropsTheMarginalOne) {
  const struct {
    std::vector<Bid> bids;
    std::vector<Ask> asks;
    std::int64_t deals;
    Credits pay, get, platform, gain;
  } cases[] = {
      {bids({100, 90, 80, 70, 60}), asks({80, 85, 95, 100, 110}), 2, 87.5_cr, 87.5_cr, 0_cr, 25_cr},
      {bids({17, 14, 13, 9, 6}), asks({1, 4, 5, 8, 11}), 4, 8.5_cr, 8.5_cr, 0_cr, 35_cr},
      {bids({17, 14, 13, 9, 6}), asks({1, 4, 5, 8, 13}), 3, 9_cr, 8_cr, 3_cr, 34_cr},
      {bids({9, 8}), asks({3, 4}), 1, 8_cr, 4_cr, 4_cr, 6_cr},
      {bids({9, 4}), asks({3, 8}), 1, 6_cr, 6_cr, 0_cr, 6_cr},
      {bids({9}), asks({3, 4}), 0, 0_cr, 0_cr, 0_cr, 0_cr},
  };
  for (const auto& c : cases) {
    const auto out = clear(kMcAfee, c.bids, c.asks);
    EXPECT_EQ(out.trades(), c.deals);
    EXPECT_EQ(out.buyers_pay, c.pay);
    EXPECT_EQ(out.sellers_get, c.get);
    EXPECT_EQ(out.platform_surplus, c.platform);
    EXPECT_EQ(out.gain, c.gain);
    EXPECT_EQ(out.outcome.price.has_value(), c.deals > 0 && c.pay == c.get);
  }
}

// economics.md, known answer 14: U[1,1000], as many buyers as sellers.
TEST(McAfee, KeepsTheKnownShareOfTheGainInRandomMarkets) {
  const struct {
    int traders;
    double total, to_traders;
  } cases[] = {{5, 94.6, 86.1}, {10, 98.4, 91.8}};
  for (const auto& c : cases) {
    base::Random random(14);
    double best = 0, gain = 0, platform = 0;
    for (int i = 0; i < 40'000; ++i) {
      Book book;
      for (int n = 0; n < c.traders; ++n) {
        book.bids.push_back({.limit = testing::whole(random.between(1, 1000))});
        book.asks.push_back({.reserve = testing::whole(random.between(1, 1000))});
      }
      const auto out = clear(kMcAfee, book);
      gain += static_cast<double>(out.gain.micro);
      platform += static_cast<double>(out.platform_surplus.micro);
      best += static_cast<double>(clear(**make("k-double"), book).gain.micro);
    }
    EXPECT_NEAR(100 * gain / best, c.total, 0.5) << c.traders;
    EXPECT_NEAR(100 * (gain - platform) / best, c.to_traders, 0.5) << c.traders;
  }
}

TEST(McAfee, RoundsThePriceDownToTheMicroCredit) {
  const auto out = clear(kMcAfee, bids({Credits(9), Credits(2)}), asks({Credits(1), Credits(5)}));
  EXPECT_EQ(out.outcome.price, Credits(3));
}

TEST(McAfee, OrdersOfSeveralUnitsTradeAtThePriceOnlyIfNoneIsCut) {
  // 2 + 1 units meet 1 + 2, all of them whole: the price is between 4 and 8.
  const auto even =
      clear(kMcAfee, {{1, 9_cr, 2}, {2, 7_cr}, {3, 4_cr, 5}}, {{1, 1_cr}, {2, 5_cr, 2}, {3, 8_cr}});
  EXPECT_EQ(even.trades(), 3);
  EXPECT_EQ(even.outcome.price, 6_cr);
  // With one unit more to sell, the ask at 5 is cut, and steps out with the bid at 7.
  const auto cut =
      clear(kMcAfee, {{1, 9_cr, 2}, {2, 7_cr}, {3, 4_cr, 5}}, {{1, 1_cr}, {2, 5_cr, 3}, {3, 8_cr}});
  EXPECT_THAT(cut.outcome.trades, ElementsAre(Trade{0, 0, 1, 7_cr, 5_cr}));
}

TEST(McAfee, AHopelessGangDoesNotHoldUpTheMarket) {
  const auto out =
      clear(kMcAfee, {{1, 20_cr, 50, 50}, {2, 9_cr}, {3, 8_cr}, {4, 1_cr}}, asks({1, 2, 30}));
  EXPECT_EQ(out.bought(1), 1);
  EXPECT_EQ(out.buyers_pay, 8_cr);
}

TEST(McAfee, EveryOutcomeIsLegalWithoutADeficit) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random);
    ASSERT_EQ(testing::fault(kMcAfee, book, seed), "") << "seed " << seed;
    const auto out = clear(kMcAfee, book);
    ASSERT_TRUE(fit_to_settle(out.outcome)) << "seed " << seed;
    if (out.outcome.price) ASSERT_EQ(out.platform_surplus, 0_cr) << "seed " << seed;
  }
}

TEST(McAfee, LyingAboutAPriceNeverPays) {
  EXPECT_EQ(
      testing::first_lie(
          kMcAfee, {3000, {.most_bids = 6, .most_asks = 6, .most_units = 3, .highest_micro = 10}},
          {.highest_micro = 10}),
      "");
}

TEST(McAfee, LyingAboutAPriceNeverPaysWithOneUnitEach) {
  EXPECT_EQ(
      testing::first_lie(
          kMcAfee,
          {3000,
           {.most_bids = 6, .most_asks = 6, .most_units = 1, .gangs = false, .highest_micro = 10}},
          {.highest_micro = 10}),
      "");
}

TEST(McAfee, LosesAtMostTheLeastValuableDealWithOneUnitEach) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    base::Random random(seed);
    const auto book =
        random_book(random, {.most_bids = 8, .most_asks = 8, .most_units = 1, .gangs = false});
    const auto out = clear(kMcAfee, book), best = clear(**make("k-double"), book);
    ASSERT_GE(out.trades(), best.trades() - 1) << "seed " << seed;
    if (best.trades() > 0)
      ASSERT_GE(out.gain.micro * best.trades(), best.gain.micro * (best.trades() - 1))
          << "seed " << seed;
  }
}

TEST(McAfee, TheOrderOfTheBookDoesNotMatterBeyondTiesWithOneUnitEach) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    const auto book = testing::without_ties(random_book(random, {.most_units = 1, .gangs = false}));
    ASSERT_EQ(clear(kMcAfee, book).by_trader(),
              clear(kMcAfee, testing::shuffled(book, random)).by_trader())
        << "seed " << seed;
  }
}

TEST(McAfee, HasNoParametersAndRunsMarkets) {
  EXPECT_TRUE(kMcAfee.fit_for_live());
  EXPECT_FALSE(make("mcafee", {{"kappa", "1"}}));
}

}  // namespace
}  // namespace souk::mechanism
