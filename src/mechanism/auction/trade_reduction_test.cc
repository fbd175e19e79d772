#include "mechanism/auction/trade_reduction.h"

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

const TradeReduction kTradeReduction;

// economics.md, known answer 1.
TEST(TradeReduction, TheMarginalPairStepsOutAndSetsThePrices) {
  const auto out =
      clear(kTradeReduction, bids({100, 90, 80, 70, 60}), asks({80, 85, 95, 100, 110}));
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{0, 0, 1, 90_cr, 85_cr}));
  EXPECT_EQ(out.platform_surplus, 5_cr);
  EXPECT_EQ(out.outcome.price, std::nullopt);
}

TEST(TradeReduction, OneDealIsAlwaysLostWithOneUnitEach) {
  const struct {
    std::vector<Bid> bids;
    std::vector<Ask> asks;
    std::int64_t deals;
  } cases[] = {{bids({9, 8}), asks({3, 4}), 1},
               {bids({9, 4}), asks({3, 8}), 0},
               {bids({9}), asks({3, 4}), 0},
               {bids({9, 8, 7}), asks({1, 2, 3}), 2},
               {bids({5, 5}), asks({5, 5}), 1},
               {{}, asks({1}), 0},
               {bids({1}), {}, 0}};
  for (const auto& c : cases) EXPECT_EQ(clear(kTradeReduction, c.bids, c.asks).trades(), c.deals);
}

TEST(TradeReduction, TheMarginalOrdersStepOutWithAllTheirUnitsAndTheRestIsServedInLine) {
  // Five units could trade. The bid at 7 and the ask at 4 step out. Of the better bids, which then
  // want two units too many, the first in line is served.
  const auto out = clear(kTradeReduction, {{1, 8_cr, 1}, {2, 9_cr, 2}, {3, 7_cr, 3}},
                         {{1, 4_cr, 4}, {2, 1_cr, 1}});
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{0, 1, 1, 7_cr, 4_cr}));
}

TEST(TradeReduction, AGangThatCannotBeWholeIsPassedOverForTheNext) {
  const auto out = clear(kTradeReduction, {{1, 9_cr, 3, 3}, {2, 8_cr, 2, 2}, {3, 7_cr, 3}},
                         {{1, 1_cr, 2}, {2, 4_cr, 5}});
  EXPECT_EQ(out.bought(0), 0);
  EXPECT_EQ(out.bought(1), 2);
}

TEST(TradeReduction, AHopelessGangDoesNotHoldUpTheMarket) {
  // 50 units at up to 20 can never be had; it would be marginal, and nobody before it.
  const auto out =
      clear(kTradeReduction, {{1, 20_cr, 50, 50}, {2, 9_cr}, {3, 8_cr}}, asks({1, 2, 30}));
  EXPECT_EQ(out.bought(1), 1);
  EXPECT_EQ(out.buyers_pay, 8_cr);
  EXPECT_EQ(out.sellers_get, 2_cr);
}

TEST(TradeReduction, EveryOutcomeIsLegalWithoutADeficit) {
  EXPECT_EQ(testing::first_unsettled(kTradeReduction, {4000}), "");
}

TEST(TradeReduction, LyingAboutAPriceNeverPays) {
  EXPECT_EQ(testing::first_lie(
                kTradeReduction,
                {3000, {.most_bids = 6, .most_asks = 6, .most_units = 4, .highest_micro = 10}},
                {.highest_micro = 10}),
            "");
}

TEST(TradeReduction, TheOrderOfTheBookDoesNotMatterBeyondTiesWithOneUnitEach) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    const auto book = testing::without_ties(random_book(random, {.most_units = 1, .gangs = false}));
    ASSERT_EQ(clear(kTradeReduction, book).by_trader(),
              clear(kTradeReduction, testing::shuffled(book, random)).by_trader())
        << "seed " << seed;
  }
}

TEST(TradeReduction, HasNoParametersAndRunsMarkets) {
  EXPECT_TRUE(kTradeReduction.fit_for_live());
  EXPECT_TRUE(make("trade-reduction"));
  EXPECT_FALSE(make("trade-reduction", {{"kappa", "1"}}));
}

}  // namespace
}  // namespace souk::mechanism
