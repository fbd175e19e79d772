#include "mechanism/auction/muda.h"

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
using ::testing::HasSubstr;
using testing::random_book;
using namespace base::literals;

const Muda kVickreyMuda(Muda::Long::vickrey), kLottery(Muda::Long::lottery);

// economics.md, known answer 7.
Book known_split() {
  constexpr auto l = Half::left, r = Half::right;
  Book book{bids({6.6_cr, 6.4_cr, 6.3_cr, 6.7_cr, 6.5_cr, 6_cr}),
            {{1, 2_cr, 1}, {2, 3_cr, 2}, {3, 4_cr, 2}, {4, 1_cr, 1}, {5, 6.1_cr, 1}},
            {}};
  book.bid_halves = {l, l, l, r, r, r};
  book.ask_halves = {l, l, l, r, r};
  return book;
}

TEST(Muda, EachHalfTradesAtTheOthersPriceAndTheLongerSidePaysFees) {
  const auto out = clear(kVickreyMuda, known_split());
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 0, 1, 6.3_cr, 6.3_cr}, Trade{1, 1, 1, 6.3_cr, 6.3_cr},
                          Trade{2, 1, 1, 6.3_cr, 6.3_cr}, Trade{3, 3, 1, 4.65_cr, 4.65_cr}));
  EXPECT_THAT(out.outcome.fees,
              ElementsAre(Fee{Side::buyers, 3, 1.85_cr}, Fee{Side::sellers, 0, 2.3_cr},
                          Fee{Side::sellers, 1, 4.6_cr}));
  EXPECT_EQ(totals(out.book, out.outcome).platform(), 8.75_cr);
  EXPECT_TRUE(out.outcome.lotteries.empty());
}

TEST(Muda, WithALotteryTheLongerSideIsDrawnAndNobodyPaysAFee) {
  std::set<std::uint32_t> buyers;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto out = clear(kLottery, known_split(), seed);
    ASSERT_EQ(out.trades(), 4);
    EXPECT_TRUE(out.outcome.fees.empty());
    EXPECT_EQ(out.platform_surplus, 0_cr);
    EXPECT_THAT(out.outcome.lotteries, ElementsAre(Lottery{Side::sellers, {0, 1, 2}, 3},
                                                   Lottery{Side::buyers, {3, 4, 5}, 1}));
    buyers.insert(out.outcome.trades.back().bid);
  }
  EXPECT_EQ(buyers.size(), 3u);
}

TEST(Muda, AHalfThatDoesNotCrossStillHasAPriceAndOneWithoutASideHasNone) {
  constexpr auto l = Half::left, r = Half::right;
  Book book{bids({4, 9}), asks({8, 1}), {}};
  book.bid_halves = book.ask_halves = {l, r};
  const auto out = clear(kVickreyMuda, book);
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{1, 1, 1, 6_cr, 6_cr}));
  book.ask_halves = {r, r};
  EXPECT_EQ(clear(kVickreyMuda, book).trades(), 0);
}

TEST(Muda, GangsInExcessAreDrawnEvenWhereOthersPayFees) {
  constexpr auto l = Half::left, r = Half::right;
  Book book{
      {{1, 9_cr, 2, 2}, {2, 8_cr, 2, 2}, {3, 7_cr}, {4, 6_cr}}, {{1, 1_cr, 3}, {2, 4_cr}}, {}};
  book.bid_halves = {l, l, l, r};
  book.ask_halves = {l, r};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto out = clear(kVickreyMuda, book, seed);
    ASSERT_TRUE(verify(out.book, out.outcome));
    EXPECT_EQ(out.outcome.lotteries.at(0).side, Side::buyers);
    EXPECT_TRUE(out.outcome.fees.empty());
  }
}

TEST(Muda, EveryOutcomeIsLegalAndOnlyFeesStayWithThePlatform) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random);
    for (const auto* rule : {&kVickreyMuda, &kLottery}) {
      ASSERT_EQ(testing::fault(*rule, book, seed), "") << "seed " << seed;
      const auto out = clear(*rule, book, seed);
      ASSERT_EQ(out.platform_surplus, 0_cr) << "seed " << seed;  // Of the trades alone.
      ASSERT_GE(totals(book, out.outcome).platform(), 0_cr) << "seed " << seed;
    }
    ASSERT_TRUE(fit_to_settle(clear(kLottery, book, seed).outcome)) << "seed " << seed;
  }
}

TEST(Muda, LyingAboutAPriceNeverPaysWhateverTheDraw) {
  for (const auto* rule : {&kVickreyMuda, &kLottery})
    EXPECT_EQ(
        testing::first_lie(
            *rule, {2000, {.most_bids = 8, .most_asks = 8, .most_units = 3, .highest_micro = 10}},
            {.highest_micro = 10}),
        "");
}

TEST(Muda, LyingAboutUnitsNeverPaysWithoutGangs) {
  for (const auto* rule : {&kVickreyMuda, &kLottery})
    EXPECT_EQ(
        testing::first_lie(
            *rule,
            {1000,
             {.most_bids = 6, .most_asks = 6, .most_units = 3, .gangs = false, .highest_micro = 8}},
            {.highest_micro = 8, .units = true}),
        "");
}

TEST(Muda, ALargeMarketLosesLittle) {
  const auto efficiency = [](const Muda& rule, int traders) {
    base::Random random(7);
    double gain = 0, best = 0;
    for (int i = 0; i < 20; ++i) {
      Book book;
      for (int n = 0; n < traders; ++n) {
        book.bids.push_back({.limit = testing::whole(random.between(1, 1000))});
        book.asks.push_back({.reserve = testing::whole(random.between(1, 1000))});
      }
      const auto seed = static_cast<std::uint64_t>(i);
      gain += static_cast<double>(clear(rule, book, seed).gain.micro);
      best += static_cast<double>(clear(**make("k-double"), book).gain.micro);
    }
    return gain / best;
  };
  for (const auto* rule : {&kVickreyMuda, &kLottery}) {
    const auto large = efficiency(*rule, 1000);
    EXPECT_GT(large, 0.93);
    EXPECT_GT(large, efficiency(*rule, 20));
    EXPECT_GT(efficiency(*rule, 20'000), large);
  }
}

TEST(Muda, TheOrderOfTheBookDoesNotMatterBeyondTiesWithTheSameSplit) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    auto book = testing::without_ties(random_book(random, {.gangs = false}));
    auto other = testing::shuffled(book, random);
    for (auto* b : {&book, &other}) {
      for (const auto& bid : b->bids) b->bid_halves.push_back(Half(bid.id % 2));
      for (const auto& ask : b->asks) b->ask_halves.push_back(Half(ask.id % 2));
    }
    ASSERT_EQ(clear(kVickreyMuda, book).by_id(), clear(kVickreyMuda, other).by_id())
        << "seed " << seed;
  }
}

TEST(Muda, RefusesHalfASplitAndAMarketWithLumpSums) {
  auto book = known_split();
  EXPECT_TRUE(kVickreyMuda.accepts(book));
  book.ask_halves.pop_back();
  const auto refused = kVickreyMuda.accepts(book);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("6 of 6 bids and 4 of 5 asks"));
  EXPECT_FALSE(kVickreyMuda.accepts({.items = {"a"}, .bundles = {{0}}}));

  const auto live = kVickreyMuda.fit_for_live();
  ASSERT_FALSE(live);
  EXPECT_THAT(live.error().hint, HasSubstr("long=lottery"));
  EXPECT_TRUE(kLottery.fit_for_live());
}

TEST(Muda, ReadsWhatBecomesOfTheLongerSideAndRefusesAnythingElse) {
  EXPECT_EQ(clear(**make("muda"), known_split()).outcome.fees.size(), 3u);
  EXPECT_EQ(clear(**make("muda", {{"long", "vickrey"}}), known_split()).outcome.fees.size(), 3u);
  EXPECT_TRUE(clear(**make("muda", {{"long", "lottery"}}), known_split()).outcome.fees.empty());
  const auto refused = make("muda", {{"long", "queue"}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("vickrey or lottery"));
}

}  // namespace
}  // namespace souk::mechanism
