#include "mechanism/sharing/fifo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/more_books.h"

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
    for (const auto& t : out.outcome.trades)
      ASSERT_TRUE(t.pays == t.gets && t.gets == out.book.asks[t.ask].reserve) << "seed " << seed;
    for (std::size_t i = 0; i < out.book.bids.size(); ++i) {
      const auto& bid = out.book.bids[i];
      if (bid.gang > bid.units) continue;
      std::int64_t free = 0;
      for (std::size_t a = 0; a < out.book.asks.size(); ++a)
        if (out.book.asks[a].reserve <= bid.limit) free += out.book.asks[a].units - out.sold(a);
      const auto could_add = std::min<std::int64_t>(free, bid.units - out.bought(i));
      ASSERT_TRUE(could_add == 0 || out.bought(i) + could_add < bid.gang) << "seed " << seed;
    }
  }
}

TEST(Fifo, ABuyerGainsNothingByAnotherLimitOrByOtherUnits) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    const auto book =
        random_book(random, {.most_bids = 6, .most_asks = 6, .gangs = false, .highest_micro = 10});
    ASSERT_EQ(testing::profitable_lie(Fifo(), book, {.highest_micro = 10, .units = true},
                                      testing::buyers),
              "")
        << "seed " << seed;
  }
}

TEST(Fifo, ABuyerGainsNothingByTwoNamesWhereItStands) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    base::Random random(seed);
    const auto book = random_book(
        random,
        {.most_bids = 4, .most_asks = 5, .most_units = 3, .gangs = false, .highest_micro = 6});
    ASSERT_EQ(testing::profitable_twin(Fifo(), book, 6), "") << "seed " << seed;
  }
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
