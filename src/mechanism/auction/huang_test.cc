#include "mechanism/auction/huang.h"

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

const Huang kHuang;

// economics.md, known answer 8.
TEST(Huang, TheMarginalOrdersStepOutAndSetTheTwoPrices) {
  const Book book{
      {{1, 3_cr, 1}, {2, 4_cr, 2}, {3, 1_cr, 5}}, {{1, 2_cr, 4}, {2, 1_cr, 1}, {3, 6_cr, 5}}, {}};
  const auto out = clear(kHuang, book);
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{1, 1, 1, 3_cr, 2_cr}));
  EXPECT_EQ(clear(**make("k-double"), book).gain, 6_cr);
}

TEST(Huang, TheLongerSideSharesItsExcessEqually) {
  const struct {
    const char* name;
    std::vector<std::int32_t> want;
    std::int32_t offered;
    std::vector<std::int64_t> get;
  } cases[] = {
      {"nothing to share", {3, 2}, 5, {3, 2}},
      {"equal parts", {4, 4, 4}, 9, {3, 3, 3}},
      {"the same loss, not the same share", {6, 2}, 6, {5, 1}},
      {"nobody below zero", {1, 5, 7}, 6, {0, 2, 4}},
      {"odd units off the last in line", {4, 4, 4}, 8, {3, 3, 2}},
      {"odd units off those who have some", {5, 5, 1}, 4, {2, 2, 0}},
      {"hardly anything left", {2, 2, 2}, 1, {1, 0, 0}},
  };
  for (const auto& c : cases) {
    Book as_buyers{{}, {{1, 1_cr, c.offered}, {2, 2_cr, 99}}, {}}, as_sellers;
    as_sellers.bids = {{1, 9_cr, c.offered}, {2, 8_cr, 99}};
    for (const auto units : c.want) {
      as_buyers.bids.push_back({as_buyers.bids.size() + 1, 9_cr, units});
      as_sellers.asks.push_back({as_sellers.asks.size() + 1, 1_cr, units});
    }
    as_buyers.bids.push_back({99, 5_cr, 99});
    as_sellers.asks.push_back({99, 4_cr, 99});
    const auto buy = clear(kHuang, as_buyers), sell = clear(kHuang, as_sellers);
    for (std::size_t i = 0; i < c.want.size(); ++i) {
      EXPECT_EQ(buy.bought(i), c.get[i]) << c.name << ", bid " << i;
      EXPECT_EQ(sell.sold(i), c.get[i]) << c.name << ", ask " << i;
    }
  }
}

TEST(Huang, AGangThatItsPartWouldBreakGivesWayToTheOthers) {
  // Nine units wanted, seven offered: the gang of 4 would be left with 3.
  const auto out =
      clear(kHuang, {{1, 9_cr, 4, 4}, {2, 9_cr, 5}, {3, 5_cr, 99}}, {{1, 1_cr, 7}, {2, 2_cr, 99}});
  EXPECT_EQ(out.bought(0), 0);
  EXPECT_EQ(out.bought(1), 5);
  EXPECT_EQ(out.sold(0), 5);
}

TEST(Huang, GangsThatBreakEachOtherAreServedInLine) {
  const auto out = clear(kHuang, {{1, 9_cr, 4, 4}, {2, 9_cr, 4, 4}, {3, 5_cr, 99}},
                         {{1, 1_cr, 6}, {2, 2_cr, 99}});
  EXPECT_EQ(out.bought(0), 4);
  EXPECT_EQ(out.bought(1), 0);
}

TEST(Huang, EveryOutcomeIsLegalWithoutADeficit) {
  EXPECT_EQ(testing::first_unsettled(kHuang, {4000}), "");
}

TEST(Huang, LyingAboutAPriceNeverPays) {
  EXPECT_EQ(
      testing::first_lie(
          kHuang, {3000, {.most_bids = 6, .most_asks = 6, .most_units = 4, .highest_micro = 10}},
          {.highest_micro = 10}),
      "");
}

TEST(Huang, IsTradeReductionWithOneUnitEach) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random, {.most_units = 1, .gangs = false});
    ASSERT_EQ(clear(kHuang, book).by_trader(), clear(**make("trade-reduction"), book).by_trader())
        << "seed " << seed;
  }
}

TEST(Huang, TheOrderOfTheBookMattersOnlyToTiesAndOddUnits) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    const auto book = testing::without_ties(random_book(random, {.gangs = false}));
    const auto one = clear(kHuang, book).by_trader(),
               other = clear(kHuang, testing::shuffled(book, random)).by_trader();
    for (const auto& [trader, units_and_money] : one) {
      const auto at = other.find(trader);
      const auto units = at == other.end() ? 0 : at->second.first;
      ASSERT_LE(std::abs(units_and_money.first - units), 1) << "seed " << seed;
    }
  }
}

TEST(Huang, HasNoParametersAndRunsMarkets) {
  EXPECT_TRUE(kHuang.fit_for_live());
  EXPECT_FALSE(make("huang", {{"kappa", "1"}}));
}

}  // namespace
}  // namespace souk::mechanism
