#include "mechanism/auction/posted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/books.h"

namespace souk::mechanism {
namespace {

using testing::asks;
using testing::bids;
using testing::clear;
using ::testing::ElementsAre;
using testing::random_book;
using namespace base::literals;

TEST(Posted, EveryTradeIsAtTheSuggestedPrice) {
  const auto out = clear(Posted(), bids({9, 5, 4}), asks({6, 5, 1}), 5_cr);
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 1, 1, 5_cr, 5_cr}, Trade{1, 2, 1, 5_cr, 5_cr}));
  EXPECT_EQ(out.outcome.price, 5_cr);
}

TEST(Posted, AFixedPriceOverridesTheSuggestedOne) {
  EXPECT_EQ(clear(Posted(7_cr), bids({9, 5}), asks({6}), 5_cr).outcome.price, 7_cr);
}

TEST(Posted, WithoutAWillingPairNothingTradesAndNoPriceIsSet) {
  const struct {
    std::vector<Bid> bids;
    std::vector<Ask> asks;
  } cases[] = {{bids({4}), asks({1})}, {bids({9}), asks({6})}, {{}, asks({1})}, {bids({9}), {}}};
  for (const auto& c : cases) {
    const auto out = clear(Posted(), c.bids, c.asks, 5_cr);
    EXPECT_TRUE(out.outcome.trades.empty());
    EXPECT_EQ(out.outcome.price, std::nullopt);
  }
}

TEST(Posted, WhoComesFirstIsServedFirstWhateverOthersWouldPay) {
  const auto out = clear(Posted(), bids({6, 100, 50}), asks({1, 1}), 5_cr);
  EXPECT_EQ(out.bought(0), 1);
  EXPECT_EQ(out.bought(1), 1);
  EXPECT_EQ(out.bought(2), 0);
}

TEST(Posted, SellersServeByRankThenPositionWhateverTheirReserve) {
  const auto out =
      clear(Posted(), bids({6, 6}), {{1, 0_cr, 1, 2}, {2, 5_cr, 1, -3}, {3, 1_cr, 1, 2}}, 5_cr);
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 1, 1, 5_cr, 5_cr}, Trade{1, 0, 1, 5_cr, 5_cr}));
}

TEST(Posted, AGangIsServedWholeOrPassedOver) {
  const auto out = clear(Posted(), {{1, 9_cr, 6, 5}, {2, 9_cr, 3, 2}, {3, 9_cr, 2, 2}, {4, 9_cr}},
                         {{1, 1_cr, 2}, {2, 1_cr, 2}}, 5_cr);
  EXPECT_EQ(out.bought(0), 0);
  EXPECT_EQ(out.bought(1), 3);
  EXPECT_EQ(out.bought(2), 0);
  EXPECT_EQ(out.bought(3), 1);
}

TEST(Posted, ImpossibleOrdersAreLeftOut) {
  const auto out = clear(Posted(), {{1, 9_cr, 0}, {2, 9_cr, 2, 3}, {3, 9_cr, -1}, {4, 9_cr, 1, 0}},
                         {{1, 0_cr, 0}, {2, 1_cr, -4}, {3, 2_cr, 2}}, 5_cr);
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{3, 2, 1, 5_cr, 5_cr}));
}

TEST(Posted, EveryOutcomeIsLegalBalancedAndServesAllItCan) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    base::Random random(seed);
    const auto out = clear(Posted(), random_book(random));
    const auto legal = verify(out.book, out.outcome);
    ASSERT_TRUE(legal) << "seed " << seed << ": " << legal.error().message;
    ASSERT_EQ(out.platform_surplus, 0_cr) << "seed " << seed;
    ASSERT_EQ(clear(Posted(), out.book).outcome.trades, out.outcome.trades) << "seed " << seed;
    std::int64_t free = 0;
    for (std::size_t i = 0; i < out.book.asks.size(); ++i)
      if (out.book.asks[i].reserve <= out.book.reference)
        free += out.book.asks[i].units - out.sold(i);
    for (std::size_t i = 0; i < out.book.bids.size(); ++i) {
      const auto& bid = out.book.bids[i];
      if (bid.limit < out.book.reference || bid.gang > bid.units) continue;
      const auto could_add = std::min<std::int64_t>(free, bid.units - out.bought(i));
      ASSERT_TRUE(could_add == 0 || out.bought(i) + could_add < bid.gang) << "seed " << seed;
    }
  }
}

TEST(Posted, LyingAboutAPriceNeverPays) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random, {.most_bids = 6, .most_asks = 6});
    const auto honest = clear(Posted(), book);
    for (std::int64_t lie = 0; lie <= 21; ++lie) {
      for (std::size_t i = 0; i < book.bids.size(); ++i) {
        auto told = book;
        told.bids[i].limit = Credits(lie);
        const auto worth = (book.bids[i].limit - book.reference).micro;
        ASSERT_LE(clear(Posted(), told).bought(i) * worth, honest.bought(i) * worth)
            << "seed " << seed << ", bid " << i << " says " << lie;
      }
      for (std::size_t i = 0; i < book.asks.size(); ++i) {
        auto told = book;
        told.asks[i].reserve = Credits(lie);
        const auto worth = (book.reference - book.asks[i].reserve).micro;
        ASSERT_LE(clear(Posted(), told).sold(i) * worth, honest.sold(i) * worth)
            << "seed " << seed << ", ask " << i << " says " << lie;
      }
    }
  }
}

TEST(Posted, TheOrderOfTheAsksDoesNotMatterBeyondEqualRanks) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    auto book = random_book(random);
    for (auto& a : book.asks) a.rank = a.rank * 100 + static_cast<int>(a.id);
    const auto one = clear(Posted(), book);
    random.shuffle(book.asks);
    ASSERT_EQ(one.by_id(), clear(Posted(), book).by_id()) << "seed " << seed;
  }
}

TEST(Posted, ReadsAPriceAndRefusesAnythingElse) {
  const auto mechanism = make("posted", {{"price", "6.5"}});
  ASSERT_TRUE(mechanism);
  EXPECT_EQ(clear(**mechanism, bids({9}), asks({3})).outcome.price, 6.5_cr);
  for (const auto* bad : {"", "-1", "cheap", "1000000001"}) {
    const auto refused = make("posted", {{"price", bad}});
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().field, "price");
  }
}

}  // namespace
}  // namespace souk::mechanism
