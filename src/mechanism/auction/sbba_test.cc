#include "mechanism/auction/sbba.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "mechanism/testing/searches.h"

namespace souk::mechanism {
namespace {

using testing::asks;
using testing::bids;
using testing::clear;
using ::testing::ElementsAre;
using testing::random_book;
using namespace base::literals;

const Sbba kBuyersFirst(Side::buyers), kSellersFirst(Side::sellers);

// economics.md, known answer 5.
TEST(Sbba, TheMarginalOrderSetsThePriceAndALotterySparesNobodyOnTheOtherSide) {
  const Book book{bids({9, 8}), asks({3, 4}), {}};
  std::set<std::uint32_t> sellers, buyers;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto one = clear(kBuyersFirst, book, seed);
    ASSERT_EQ(one.trades(), 1);
    EXPECT_EQ(one.outcome.price, 8_cr);
    EXPECT_EQ(one.bought(0), 1);
    EXPECT_THAT(one.outcome.lotteries, ElementsAre(Lottery{Side::sellers, {0, 1}, 1}));
    sellers.insert(one.outcome.trades[0].ask);

    const auto other = clear(kSellersFirst, book, seed);
    ASSERT_EQ(other.trades(), 1);
    EXPECT_EQ(other.outcome.price, 4_cr);
    EXPECT_EQ(other.sold(0), 1);
    EXPECT_THAT(other.outcome.lotteries, ElementsAre(Lottery{Side::buyers, {0, 1}, 1}));
    buyers.insert(other.outcome.trades[0].bid);
  }
  EXPECT_EQ(sellers.size(), 2u);
  EXPECT_EQ(buyers.size(), 2u);
}

TEST(Sbba, AllDealsAreMadeIfTheNextOrderSetsThePrice) {
  const auto one = clear(kBuyersFirst, bids({9, 8, 2}), asks({3, 4, 7}));
  EXPECT_EQ(one.trades(), 2);
  EXPECT_EQ(one.outcome.price, 7_cr);
  EXPECT_TRUE(one.outcome.lotteries.empty());
  const auto other = clear(kSellersFirst, bids({9, 8, 5}), asks({3, 4, 7}));
  EXPECT_EQ(other.trades(), 2);
  EXPECT_EQ(other.outcome.price, 5_cr);
}

TEST(Sbba, AMarginalOrderThatIsCutStepsOutWhoeverIsFirst) {
  // Three units wanted, five offered: the ask at 4 is cut, so it sets the price.
  const auto dear = clear(kBuyersFirst, {{1, 9_cr, 2}, {2, 8_cr}}, {{1, 3_cr, 2}, {2, 4_cr, 3}});
  EXPECT_EQ(dear.outcome.price, 4_cr);
  EXPECT_EQ(dear.sold(0), 2);
  EXPECT_EQ(dear.outcome.lotteries.at(0).side, Side::buyers);
  const auto cheap = clear(kSellersFirst, {{1, 9_cr, 2}, {2, 8_cr, 3}}, {{1, 3_cr, 2}, {2, 4_cr}});
  EXPECT_EQ(cheap.outcome.price, 8_cr);
  EXPECT_EQ(cheap.bought(0), 2);
  EXPECT_EQ(cheap.outcome.lotteries.at(0).side, Side::sellers);
}

TEST(Sbba, EverySellerHasTheSameChance) {
  const Book book{bids({9, 8, 7, 7}), asks({1, 2, 3, 4}), {}};
  int sold[4] = {};
  for (std::uint64_t seed = 1; seed <= 8000; ++seed) {
    const auto out = clear(kBuyersFirst, book, seed);
    for (std::size_t i = 0; i < 4; ++i) sold[i] += static_cast<int>(out.sold(i));
  }
  for (const auto n : sold) EXPECT_NEAR(n, 6000, 200);  // Five standard deviations.
}

TEST(Sbba, AGangInTheLotteryIsWholeOrPassedOver) {
  const Book book{{{1, 9_cr, 3, 3}, {2, 8_cr, 2}}, {{1, 1_cr, 2}, {2, 4_cr, 3}}, {}};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto out = clear(kSellersFirst, book, seed);
    EXPECT_EQ(out.bought(0), 0);
    EXPECT_EQ(out.bought(1), 2);
  }
}

TEST(Sbba, EveryOutcomeIsLegalAtOnePriceAndLeavesNothingToThePlatform) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random);
    for (const auto* rule : {&kBuyersFirst, &kSellersFirst}) {
      ASSERT_EQ(testing::fault(*rule, book, seed), "") << "seed " << seed;
      const auto out = clear(*rule, book, seed);
      ASSERT_TRUE(fit_to_settle(out.outcome)) << "seed " << seed;
      ASSERT_EQ(out.platform_surplus, 0_cr) << "seed " << seed;
      ASSERT_EQ(out.outcome.price.has_value(), out.trades() > 0) << "seed " << seed;
      for (const auto& t : out.outcome.trades)
        ASSERT_TRUE(t.pays == *out.outcome.price && t.gets == t.pays) << "seed " << seed;
    }
  }
}

TEST(Sbba, LyingAboutAPriceNeverPaysWhateverTheDraw) {
  for (const auto* rule : {&kBuyersFirst, &kSellersFirst})
    EXPECT_EQ(
        testing::first_lie(
            *rule, {3000, {.most_bids = 6, .most_asks = 6, .most_units = 3, .highest_micro = 10}},
            {.highest_micro = 10}),
        "");
}

TEST(Sbba, LyingAboutAPriceNeverPaysWithOneUnitEach) {
  for (const auto* rule : {&kBuyersFirst, &kSellersFirst})
    EXPECT_EQ(testing::first_lie(*rule,
                                 {1000,
                                  {.most_bids = 6,
                                   .most_asks = 6,
                                   .most_units = 1,
                                   .gangs = false,
                                   .highest_micro = 10}},
                                 {.highest_micro = 10}),
              "");
}

TEST(Sbba, LosesAtMostOneDealWithOneUnitEach) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    base::Random random(seed);
    const auto book =
        random_book(random, {.most_bids = 8, .most_asks = 8, .most_units = 1, .gangs = false});
    const auto best = clear(**make("k-double"), book).trades();
    ASSERT_GE(clear(kBuyersFirst, book, seed).trades(), best - 1) << "seed " << seed;
    ASSERT_GE(clear(kSellersFirst, book, seed).trades(), best - 1) << "seed " << seed;
  }
}

TEST(Sbba, TheOrderOfTheBookDoesNotMatterToThePriceBeyondTies) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    const auto book = testing::without_ties(random_book(random, {.gangs = false}));
    const auto other = testing::shuffled(book, random);
    for (const auto* rule : {&kBuyersFirst, &kSellersFirst}) {
      const auto one = clear(*rule, book, seed), two = clear(*rule, other, seed);
      ASSERT_EQ(one.outcome.price, two.outcome.price) << "seed " << seed;
      ASSERT_EQ(one.trades(), two.trades()) << "seed " << seed;
    }
  }
}

TEST(Sbba, ReadsWhoIsFirstAndRefusesAnythingElse) {
  const Book book{bids({9, 8}), asks({3, 4}), {}};
  EXPECT_EQ(clear(**make("sbba"), book).outcome.price, 8_cr);
  EXPECT_EQ(clear(**make("sbba", {{"first", "buyers"}}), book).outcome.price, 8_cr);
  EXPECT_EQ(clear(**make("sbba", {{"first", "sellers"}}), book).outcome.price, 4_cr);
  const auto refused = make("sbba", {{"first", "lenders"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "first");
  EXPECT_THAT(refused.error().hint, ::testing::HasSubstr("buyers or sellers"));
  EXPECT_TRUE(kBuyersFirst.fit_for_live());
}

}  // namespace
}  // namespace souk::mechanism
