#include "mechanism/auction/vcg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/searches.h"

namespace souk::mechanism {
namespace {

using testing::asks;
using testing::bids;
using testing::clear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::random_book;
using namespace base::literals;

const testing::Shape kNoGangs{.gangs = false};

// economics.md, known answer 1.
TEST(Vcg, BuyersPayTheLowestPriceThatClearsAndSellersGetTheHighest) {
  const auto out = clear(Vcg(), bids({100, 90, 80, 70, 60}), asks({80, 85, 95, 100, 110}));
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 0, 1, 85_cr, 90_cr}, Trade{1, 1, 1, 85_cr, 90_cr}));
  EXPECT_EQ(out.platform_surplus, -10_cr);
  EXPECT_EQ(out.gain, 25_cr);
  EXPECT_TRUE(out.outcome.fees.empty());
}

TEST(Vcg, ABuyerOfSeveralUnitsPaysForEachUnitItDisplaces) {
  // Without the first bid, the bids at 7 and 4 would have bought the units.
  const auto out = clear(Vcg(), {{1, 9_cr, 2}, {2, 7_cr}, {3, 4_cr}}, {{1, 1_cr, 2}});
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{0, 0, 2, 5.5_cr, 9_cr}));
}

TEST(Vcg, APartlyServedBidDoesNotCompeteWithItself) {
  const auto out = clear(Vcg(), {{1, 9_cr, 5}, {2, 3_cr}}, {{1, 1_cr, 2}});
  // One unit would go to the bid at 3; the other would stay with its seller, who wants 1.
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{0, 0, 2, 2_cr, 9_cr}));
}

TEST(Vcg, WhatAnAverageLeavesOpenIsAFeeSoThatSumsAreExact) {
  const Book book{{{1, Credits(9), 2}, {2, Credits(8)}, {3, Credits(5)}},
                  {{1, Credits(1), 1}, {2, Credits(2), 2}},
                  {}};
  const auto out = clear(Vcg(), book);
  // The buyer of two displaces the bid at 5 and a unit that its seller would keep for 2. The seller
  // of two makes the difference for the bid at 8 and for one unit of the bid at 9.
  EXPECT_THAT(out.outcome.fees,
              ElementsAre(Fee{Side::buyers, 0, Credits(1)}, Fee{Side::sellers, 1, Credits(1)}));
  EXPECT_EQ(testing::buyer_gain(book.bids[0], out.outcome, {0}), 2 * 9 - (5 + 2));
  EXPECT_EQ(testing::seller_gain(book.asks[1], out.outcome, {1}), (8 + 9) - 2 * 2);
}

// The definition of a Clarke payment, by computing the best outcome without each trader.
TEST(Vcg, EverybodyPaysExactlyWhatItsPresenceCostsTheOthers) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    base::Random random(seed);
    const auto book =
        random_book(random, {.most_bids = 3, .most_asks = 3, .most_units = 3, .gangs = false});
    const auto out = clear(Vcg(), book);
    const auto best = testing::brute_force_gain(book);
    ASSERT_EQ(out.gain, best) << "seed " << seed;
    for (std::size_t i = 0; i < book.bids.size(); ++i) {
      auto rest = book;
      rest.bids.erase(rest.bids.begin() + static_cast<std::ptrdiff_t>(i));
      ASSERT_EQ(testing::buyer_gain(book.bids[i], out.outcome, {i}),
                (best - testing::brute_force_gain(rest)).micro)
          << "seed " << seed << ", bid " << i;
    }
    for (std::size_t i = 0; i < book.asks.size(); ++i) {
      auto rest = book;
      rest.asks.erase(rest.asks.begin() + static_cast<std::ptrdiff_t>(i));
      ASSERT_EQ(testing::seller_gain(book.asks[i], out.outcome, {i}),
                (best - testing::brute_force_gain(rest)).micro)
          << "seed " << seed << ", ask " << i;
    }
  }
}

TEST(Vcg, EveryOutcomeIsLegalAndNoMoneyAppearsOrVanishes) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random, kNoGangs);
    ASSERT_EQ(testing::fault(Vcg(), book, seed), "") << "seed " << seed;
    for (const auto& fee : clear(Vcg(), book).outcome.fees)
      ASSERT_LT(fee.amount.micro, 5) << "seed " << seed;  // Less than one for each unit.
  }
}

TEST(Vcg, LyingAboutPriceOrUnitsNeverPays) {
  EXPECT_EQ(
      testing::first_lie(
          Vcg(),
          {1000,
           {.most_bids = 4, .most_asks = 4, .most_units = 3, .gangs = false, .highest_micro = 10}},
          {.highest_micro = 10, .units = true}),
      "");
}

TEST(Vcg, FalseNamesOnOneSideNeverPay) {
  EXPECT_EQ(
      testing::first_names(
          Vcg(),
          {1000,
           {.most_bids = 4, .most_asks = 4, .most_units = 2, .gangs = false, .highest_micro = 5}},
          {.highest_micro = 5}),
      "");
}

// What makes the deficit more than a nuisance.
TEST(Vcg, WhoIsOnBothSidesCanLiveOffTheDeficit) {
  const auto out = clear(Vcg(), bids({9, 100}), asks({3, 0}));
  EXPECT_EQ(out.bought(1), 1);
  EXPECT_EQ(out.sold(1), 1);
  EXPECT_EQ(out.buyers_pay, 3_cr);
  EXPECT_EQ(out.sellers_get, 9_cr);
}

TEST(Vcg, TheOrderOfTheBookDoesNotMatterBeyondTies) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    const auto book = testing::without_ties(random_book(random, kNoGangs));
    ASSERT_EQ(clear(Vcg(), book).by_id(), clear(Vcg(), testing::shuffled(book, random)).by_id())
        << "seed " << seed;
  }
}

TEST(Vcg, SaysWhyItTakesNoGangsAndRunsNoMarket) {
  const auto gang = Vcg().accepts({{{7, 9_cr, 3, 2}}, {}, {}});
  ASSERT_FALSE(gang);
  EXPECT_THAT(gang.error().message, HasSubstr("bid 7 is a gang of 2"));
  EXPECT_THAT(gang.error().hint, HasSubstr("muda"));
  const auto live = Vcg().fit_for_live();
  ASSERT_FALSE(live);
  EXPECT_THAT(live.error().message, HasSubstr("pays sellers more"));
  EXPECT_FALSE(make("vcg", {{"kappa", "1"}}));
}

}  // namespace
}  // namespace souk::mechanism
