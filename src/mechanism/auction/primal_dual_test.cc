#include "mechanism/auction/primal_dual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

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

TEST(PrimalDual, ThePriceDoublesWithEveryFourthOfTheCapacity) {
  const auto out = clear(PrimalDual(1_cr, 16_cr), bids({20, 20, 20, 20}), asks({0, 0, 0, 0}));
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 0, 1, 1_cr, 1_cr}, Trade{1, 1, 1, 2_cr, 2_cr},
                          Trade{2, 2, 1, 4_cr, 4_cr}, Trade{3, 3, 1, 8_cr, 8_cr}));
  EXPECT_EQ(out.outcome.price, std::nullopt);
}

TEST(PrimalDual, PricesAreRoundedToTheNearestMicroCredit) {
  // 1, the cube root of 2 = 1.25992105 and of 4 = 1.58740105.
  const auto out = clear(PrimalDual(1_cr, 2_cr), bids({9, 9, 9}), asks({0, 0, 0}));
  EXPECT_EQ(out.outcome.trades[1].pays, 1.259921_cr);
  EXPECT_EQ(out.outcome.trades[2].pays, 1.587401_cr);
}

TEST(PrimalDual, OnlyABidAboveThePriceIsAdmitted) {
  const auto out = clear(PrimalDual(1_cr, 4_cr), bids({2, 2, 3, 3}), asks({0, 0}));
  EXPECT_EQ(out.bought(0), 1);
  EXPECT_EQ(out.bought(1), 0);
  EXPECT_EQ(out.bought(2), 1);
  EXPECT_EQ(clear(PrimalDual(1_cr, 4_cr), bids({1}), asks({0})).trades(), 0);
}

TEST(PrimalDual, ASellerGetsAtLeastItsReserve) {
  const auto out = clear(PrimalDual(1_cr, 16_cr), {{1, 9_cr, 2}}, asks({0, 5}));
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 0, 1, 1_cr, 1_cr}, Trade{0, 1, 1, 5_cr, 5_cr}));
}

TEST(PrimalDual, AnAskAboveTheHighestPriceIsNoCapacity) {
  const auto out = clear(PrimalDual(1_cr, 16_cr), bids({20, 20}), {{1, 0_cr, 2}, {2, 17_cr, 99}});
  EXPECT_EQ(out.outcome.trades[1].pays, 4_cr);
}

TEST(PrimalDual, AtHalfLoadThePriceIsTheReference) {
  const auto out = clear(PrimalDual(), bids({20, 20}), asks({0, 0}), 5_cr);
  EXPECT_EQ(out.outcome.trades[0].pays, 1.25_cr);
  EXPECT_EQ(out.outcome.trades[1].pays, 5_cr);
}

TEST(PrimalDual, WorksWithAnyReferenceAndWithOneEndGiven) {
  for (const auto reference : {Credits(), Credits(1), base::kMostCredits}) {
    EXPECT_TRUE(clear(PrimalDual(), bids({2}), asks({0}), reference).trades() <= 1);
    EXPECT_TRUE(clear(PrimalDual(3_cr), bids({4}), asks({0}), reference).buyers_pay == 3_cr);
    EXPECT_TRUE(clear(PrimalDual({}, 1_cr), bids({2}), asks({0}), reference).buyers_pay <= 1_cr);
  }
}

TEST(PrimalDual, AGangIsServedWholeOrPassedOver) {
  const auto out = clear(PrimalDual(1_cr, 16_cr), {{1, 9_cr, 6, 5}, {2, 9_cr, 3, 2}, {3, 9_cr}},
                         {{1, 0_cr, 2}, {2, 5_cr, 2}});
  EXPECT_EQ(out.bought(0), 0);
  EXPECT_EQ(out.bought(1), 3);
  EXPECT_EQ(out.bought(2), 1);
}

TEST(PrimalDual, ImpossibleOrdersAreLeftOut) {
  const auto out =
      clear(PrimalDual(1_cr, 4_cr), {{1, 9_cr, 0}, {2, 9_cr, 2, 3}, {3, 9_cr, -1}, {4, 9_cr, 1, 0}},
            {{1, 0_cr, 0}, {2, 1_cr, -4}, {3, 0_cr, 2}});
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{3, 2, 1, 1_cr, 1_cr}));
}

TEST(PrimalDual, EveryOutcomeIsLegalAndBalancedAndLaterQuotesAreNoLower) {
  int traded = 0;
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random);
    ASSERT_EQ(testing::fault(PrimalDual(), book, seed), "") << "seed " << seed;
    const auto out = clear(PrimalDual(), book);
    ASSERT_TRUE(fit_to_settle(out.outcome)) << "seed " << seed;
    std::optional<Credits> before;  // The lowest price of the bid before.
    for (const auto& t : out.outcome.trades) {
      ASSERT_EQ(t.pays, t.gets) << "seed " << seed;
      ASSERT_LT(t.pays, book.bids[t.bid].limit) << "seed " << seed;
      if (t.pays > book.asks[t.ask].reserve) {
        ASSERT_GE(t.pays, before.value_or(t.pays)) << "seed " << seed;
        before = t.pays;
      }
    }
    traded += out.trades() > 0;
  }
  EXPECT_GT(traded, 2000);
}

TEST(PrimalDual, ABuyerGainsNothingByAnotherLimitOrByOtherUnits) {
  EXPECT_EQ(testing::first_lie(
                PrimalDual(),
                {1000, {.most_bids = 6, .most_asks = 6, .gangs = false, .highest_micro = 10}},
                {.highest_micro = 10, .units = true}, testing::buyers),
            "");
}

TEST(PrimalDual, ABuyerGainsNothingByTwoNamesWhereItStands) {
  EXPECT_EQ(
      testing::first_twin(
          PrimalDual(),
          {500,
           {.most_bids = 4, .most_asks = 5, .most_units = 3, .gangs = false, .highest_micro = 6}}),
      "");
}

// The promise of the header, with one slot at the highest price to spare for what is indivisible.
TEST(PrimalDual, ServesAGoodPartOfTheBestInHindsightWhateverTheOrder) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    base::Random random(seed);
    const Credits low(1'000), high(random.between(3'000, 100'000));
    Book book;
    const auto slots = random.between(50, 200);
    for (std::int64_t i = 0; i < slots; ++i) book.asks.push_back({.reserve = Credits()});
    const auto wishes = random.between(1, 500);
    const auto most = random.between(2'800, high.micro);
    for (std::int64_t i = 0; i < wishes; ++i)
      book.bids.push_back({.limit = Credits(random.between(2'719, most))});
    if (random.chance(2)) std::ranges::sort(book.bids, {}, &Bid::limit);
    const auto served = clear(PrimalDual(low, high), book).gain.micro;
    std::vector<std::int64_t> worths;
    for (const auto& bid : book.bids) worths.push_back(bid.limit.micro);
    std::ranges::sort(worths, std::greater{});
    worths.resize(std::min<std::size_t>(worths.size(), book.asks.size()));
    std::int64_t best = 0;
    for (const auto worth : worths) best += worth;
    const auto factor = std::log(static_cast<double>(high.micro) / static_cast<double>(low.micro));
    ASSERT_GE(static_cast<double>(served + high.micro) * factor, static_cast<double>(best))
        << "seed " << seed;
  }
}

TEST(PrimalDual, TheOrderOfTheAsksDoesNotMatterBeyondTies) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    auto book = testing::without_ties(random_book(random));
    book.reference = Credits(book.reference.micro * 100);
    const auto one = clear(PrimalDual(), book);
    random.shuffle(book.asks);
    ASSERT_EQ(one.by_id(), clear(PrimalDual(), book).by_id()) << "seed " << seed;
  }
}

TEST(PrimalDual, ReadsItsParametersAndRefusesAnythingElse) {
  const auto mechanism = make("primal-dual", {{"low", "2"}, {"high", "8"}});
  ASSERT_TRUE(mechanism);
  EXPECT_TRUE((*mechanism)->fit_for_live());
  EXPECT_EQ(clear(**mechanism, bids({9, 9}), asks({0, 0})).outcome.trades[1].pays, 4_cr);
  const struct {
    Params params;
    const char* field;
    const char* hint;
  } cases[] = {{{{"low", "0"}}, "low", "at least 0.000001"},
               {{{"low", "-1"}}, "low", "from 0 to"},
               {{{"high", "0"}}, "high", "at least 0.000001"},
               {{{"low", "3"}, {"high", "2"}}, "high", "at least 3"},
               {{{"high", "dear"}}, "high", "from 0 to"},
               {{{"top", "1"}}, "top", ""}};
  for (const auto& c : cases) {
    const auto refused = make("primal-dual", c.params);
    ASSERT_FALSE(refused) << c.field;
    EXPECT_EQ(refused.error().field, c.field);
    EXPECT_THAT(refused.error().hint, HasSubstr(c.hint));
  }
}

}  // namespace
}  // namespace souk::mechanism
