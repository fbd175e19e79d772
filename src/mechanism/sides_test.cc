#include "mechanism/sides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "mechanism/testing/books.h"

namespace souk::mechanism {
namespace {

using testing::asks;
using testing::bids;
using ::testing::ElementsAre;
using testing::random_book;
using namespace base::literals;

std::vector<std::uint32_t> indices(const Lots& lots) {
  std::vector<std::uint32_t> out;
  for (const auto& lot : lots) out.push_back(lot.index);
  return out;
}

template <class Items, class Less>
std::vector<std::uint32_t> stable_order(const Items& items, Less&& less) {
  std::vector<std::uint32_t> out(items.size());
  std::iota(out.begin(), out.end(), 0);
  std::ranges::sort(out, [&](auto a, auto b) {
    if (less(items[a], items[b])) return true;
    return !less(items[b], items[a]) && a < b;
  });
  return out;
}

// Prices and ranks of any sign and size, with repeats.
Book wild_book(base::Random& random) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t prices[] = {0, 1, -1, 255, 256, -256, most, -most - 1, 1'000'000};
  const auto price = [&] {
    return random.chance(2) ? Credits(prices[random.below(std::size(prices))])
                            : Credits(random.between(-100'000, 100'000));
  };
  Book book;
  for (int i = 0; i < 60; ++i) {
    book.bids.push_back({.limit = price()});
    book.asks.push_back(
        {.reserve = price(),
         .rank = static_cast<std::int32_t>(random.chance(3) ? random.next() : random.below(3))});
  }
  return book;
}

TEST(Sides, SortsAsAPlainStableSortWould) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    base::Random random(seed);
    const auto book = wild_book(random);
    ASSERT_EQ(indices(bids_by_limit(book)),
              stable_order(book.bids, [](const Bid& a, const Bid& b) { return a.limit > b.limit; }))
        << "seed " << seed;
    ASSERT_EQ(indices(asks_by_reserve(book)), stable_order(book.asks,
                                                           [](const Ask& a, const Ask& b) {
                                                             return std::pair(a.reserve, a.rank) <
                                                                    std::pair(b.reserve, b.rank);
                                                           }))
        << "seed " << seed;
    auto by_rank =
        stable_order(book.asks, [](const Ask& a, const Ask& b) { return a.rank < b.rank; });
    std::erase_if(by_rank, [&](auto i) { return book.asks[i].reserve > Credits(7); });
    ASSERT_EQ(indices(asks_by_rank(book, Credits(7))), by_rank) << "seed " << seed;
  }
}

TEST(Sides, LeavesOutWhatCanNeverTrade) {
  const Book book{{{1, 5_cr, 0}, {2, 5_cr, 2, 3}, {3, 5_cr, 2, 2}}, {{1, 1_cr, 0}, {2, 1_cr}}, {}};
  EXPECT_THAT(indices(bids_by_limit(book)), ElementsAre(2));
  EXPECT_THAT(indices(asks_by_reserve(book)), ElementsAre(1));
  EXPECT_THAT(indices(asks_by_rank(book, 1_cr)), ElementsAre(1));
}

TEST(Crossing, NamesTheLastPairThatTradesAndTheFirstThatDoesNot) {
  const auto c = cross({bids({17, 14, 13, 9, 6}), asks({1, 4, 5, 8, 13}), {}});
  EXPECT_EQ(c.units, 4);
  EXPECT_EQ(c.last_bid, 9_cr);
  EXPECT_EQ(c.last_ask, 8_cr);
  EXPECT_EQ(c.next_bid, 6_cr);
  EXPECT_EQ(c.next_ask, 13_cr);
  EXPECT_EQ(c.low(), 8_cr);
  EXPECT_EQ(c.high(), 9_cr);
}

TEST(Crossing, KnowsTheNextAskEvenAboveEveryBid) {
  const auto c = cross({bids({10, 5}), asks({4, 30, 11}), {}});
  EXPECT_EQ(c.units, 1);
  EXPECT_EQ(c.next_ask, 11_cr);
  EXPECT_EQ(cross({{}, asks({4, 3}), {}}).next_ask, 3_cr);
  EXPECT_EQ(cross({bids({2}), asks({4, 3}), {}}).next_ask, 3_cr);
  EXPECT_EQ(cross({bids({2}), asks({4, 3}), {}}).next_bid, 2_cr);
}

TEST(Crossing, CountsUnitsInsideABidAndAnAsk) {
  const auto c = cross({{{1, 9_cr, 3}, {2, 7_cr, 4}}, {{1, 1_cr, 5}, {2, 8_cr, 1}}, {}});
  EXPECT_EQ(c.units, 5);
  EXPECT_EQ(c.next_bid, 7_cr);
  EXPECT_EQ(c.next_ask, 8_cr);
  EXPECT_THAT(c.bids, ElementsAre(Lot{9_cr, 0, 3}, Lot{7_cr, 1, 2}));
}

TEST(Crossing, PricesAroundTheMarginNeverCross) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    base::Random random(seed);
    const auto c = cross(random_book(random));
    if (c.units == 0) continue;
    ASSERT_EQ(c.units, total_units(c.bids)) << "seed " << seed;
    ASSERT_LE(c.last_ask, c.last_bid) << "seed " << seed;
    ASSERT_LE(c.low(), c.high()) << "seed " << seed;
    if (c.next_bid && c.next_ask) ASSERT_LT(*c.next_bid, *c.next_ask) << "seed " << seed;
  }
}

TEST(PairUp, HandsOutUnitsInOrderAndListsThemByPosition) {
  const Lots winners{{9_cr, 4, 3}, {8_cr, 2, 2}}, sellers{{1_cr, 7, 2}, {2_cr, 0, 9}};
  EXPECT_THAT(pair_up(winners, sellers, 6_cr, 5_cr),
              ElementsAre(Trade{2, 0, 2, 6_cr, 5_cr}, Trade{4, 0, 1, 6_cr, 5_cr},
                          Trade{4, 7, 2, 6_cr, 5_cr}));
}

TEST(PairUpDeathTest, NeverInventsUnits) {
  const Lots winners{{9_cr, 0, 3}}, sellers{{1_cr, 0, 2}};
  EXPECT_DEATH(std::ignore = pair_up(winners, sellers, 6_cr, 5_cr), "CHECK");
}

}  // namespace
}  // namespace souk::mechanism
