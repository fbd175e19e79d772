#include "mechanism/sharing/fifo.h"

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

TEST(Fifo, WhoComesFirstTakesTheCheapestAndPaysWhatItAsks) {
  const auto out = clear(Fifo(), bids({6, 100, 5, 3}), asks({4, 0, 5}));
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 1, 1, 0_cr, 0_cr}, Trade{1, 0, 1, 4_cr, 4_cr},
                          Trade{2, 2, 1, 5_cr, 5_cr}));
  EXPECT_EQ(out.outcome.price, std::nullopt);
}

TEST(Fifo, ABidTakesWhatItsLimitAcceptsAndNoMore) {
  const auto out = clear(Fifo(), {{1, 4_cr, 5}, {2, 9_cr, 2}}, asks({1, 3, 5, 7}));
  EXPECT_EQ(out.bought(0), 2);
  EXPECT_EQ(out.bought(1), 2);
}

TEST(Fifo, AGangIsServedWholeOrPassedOver) {
  const auto out = clear(Fifo(), {{1, 9_cr, 6, 5}, {2, 4_cr, 4, 3}, {3, 9_cr, 3, 2}},
                         {{1, 1_cr, 2}, {2, 5_cr, 2}});
  EXPECT_EQ(out.bought(0), 0);
  EXPECT_EQ(out.bought(1), 0);
  EXPECT_EQ(out.bought(2), 3);
}

TEST(Fifo, ImpossibleOrdersAreLeftOut) {
  const auto out = clear(Fifo(), {{1, 9_cr, 0}, {2, 9_cr, 2, 3}, {3, 9_cr, -1}, {4, 9_cr, 1, 0}},
                         {{1, 0_cr, 0}, {2, 1_cr, -4}, {3, 2_cr, 2}});
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{3, 2, 1, 2_cr, 2_cr}));
}

TEST(Fifo, EveryOutcomeIsLegalBalancedAtReservesAndServesAllItCan) {
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    base::Random random(seed);
    const auto out = clear(Fifo(), random_book(random));
    ASSERT_EQ(testing::fault(Fifo(), out.book, seed), "") << "seed " << seed;
    ASSERT_TRUE(fit_to_settle(out.outcome)) << "seed " << seed;
    ASSERT_EQ(testing::mispriced_or_idle(out), "") << "seed " << seed;
  }
}

TEST(Fifo, ABuyerGainsNothingByAnotherLimitOrByOtherUnits) {
  EXPECT_EQ(
      testing::first_lie(
          Fifo(), {1000, {.most_bids = 6, .most_asks = 6, .gangs = false, .highest_micro = 10}},
          {.highest_micro = 10, .units = true}, testing::buyers),
      "");
}

TEST(Fifo, ABuyerGainsNothingByTwoNamesWhereItStands) {
  EXPECT_EQ(
      testing::first_twin(
          Fifo(),
          {500,
           {.most_bids = 4, .most_asks = 5, .most_units = 3, .gangs = false, .highest_micro = 6}}),
      "");
}

TEST(Fifo, TheOrderOfTheAsksDoesNotMatterBeyondTies) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    auto book = testing::without_ties(random_book(random));
    const auto one = clear(Fifo(), book);
    random.shuffle(book.asks);
    ASSERT_EQ(one.by_id(), clear(Fifo(), book).by_id()) << "seed " << seed;
  }
}

TEST(Fifo, HasNoParameters) {
  EXPECT_TRUE((*make("fifo"))->fit_for_live());
  EXPECT_FALSE(make("fifo", {{"price", "1"}}));
}

}  // namespace
}  // namespace souk::mechanism
