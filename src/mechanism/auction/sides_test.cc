#include "mechanism/auction/sides.h"

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

TEST(Margin, CountsWholeOrders) {
  const auto m = margin({{{1, 9_cr, 3}, {2, 7_cr, 4}, {3, 3_cr, 2}},
                         {{1, 1_cr, 5}, {2, 8_cr, 1}, {3, 20_cr, 1}},
                         {}});
  EXPECT_THAT(m.bids, ElementsAre(Lot{9_cr, 0, 3}, Lot{7_cr, 1, 4}));
  EXPECT_THAT(m.asks, ElementsAre(Lot{1_cr, 0, 5}));
  EXPECT_FALSE(m.even);
  EXPECT_EQ(m.next_bid, 3_cr);
  EXPECT_EQ(m.next_ask, 8_cr);
  EXPECT_EQ(m.hopeless, std::nullopt);
  EXPECT_TRUE(margin({{{1, 9_cr, 3}, {2, 7_cr, 2}}, {{1, 1_cr, 5}}, {}}).even);
  EXPECT_EQ(margin({bids({9}), asks({3, 12}), {}}).next_ask, 12_cr);
}

TEST(Margin, IsEmptyWhereNothingCrosses) {
  for (const auto& book : {Book{bids({2}), asks({4, 3}), {}}, Book{{}, asks({4, 3}), {}}}) {
    const auto m = margin(book);
    EXPECT_TRUE(m.bids.empty() && m.asks.empty() && !m.even);
    EXPECT_EQ(m.next_ask, 3_cr);
  }
  EXPECT_EQ(margin({bids({2}), {}, {}}).next_bid, 2_cr);
}

TEST(Margin, LeavesOutGangsThatNothingTheyWouldPayForCanFill) {
  // The gang of 3 at 9 finds 2 units at or below 9; the one at 30 finds all four.
  const Book book{
      {{1, 9_cr, 3, 3}, {2, 30_cr, 4, 4}, {3, 8_cr}}, {{1, 1_cr, 2}, {2, 20_cr, 2}}, {}};
  const auto m = margin(book);
  EXPECT_EQ(m.hopeless, 9_cr);
  EXPECT_THAT(indices(m.bids), ElementsAre(1));
  EXPECT_THAT(indices(without_hopeless(book, bids_by_limit(book), asks_by_reserve(book))),
              ElementsAre(1, 2));
}

TEST(Margin, AgreesWithTheCrossingWithoutGangs) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random, {.gangs = false});
    const auto m = margin(book);
    const auto c = cross(book);
    const auto bids = bids_by_limit(book), asks = asks_by_reserve(book);
    ASSERT_EQ(common_units(bids, asks), c.units) << "seed " << seed;
    ASSERT_EQ(m.bids.empty(), c.units == 0) << "seed " << seed;
    if (c.units == 0) continue;
    ASSERT_EQ(std::min(total_units(m.bids), total_units(m.asks)), c.units) << "seed " << seed;
    ASSERT_EQ(m.bids.back().price, c.last_bid) << "seed " << seed;
    ASSERT_EQ(m.asks.back().price, c.last_ask) << "seed " << seed;
    if (m.even) ASSERT_TRUE(m.next_bid == c.next_bid && m.next_ask == c.next_ask) << seed;
  }
}

TEST(SplitLots, SplitsTheOrderInTheMiddle) {
  const Lots lots{{9_cr, 4, 3}, {8_cr, 2, 2}};
  EXPECT_THAT(cut(lots, 4).before, ElementsAre(Lot{9_cr, 4, 3}, Lot{8_cr, 2, 1}));
  EXPECT_THAT(cut(lots, 4).after, ElementsAre(Lot{8_cr, 2, 1}));
  EXPECT_THAT(cut(lots, 3).after, ElementsAre(Lot{8_cr, 2, 2}));
  EXPECT_EQ(cut(lots, 0).after, lots);
  EXPECT_EQ(cut(lots, 99).before, lots);
}

TEST(InLine, NoPriceHasASay) {
  const Book book{bids({5, 9, 7}), {{1, 9_cr, 1, 2}, {2, 1_cr, 1, 5}, {3, 4_cr, 1, 2}}, {}};
  EXPECT_THAT(indices(bids_in_line(book, bids_by_limit(book))), ElementsAre(0, 1, 2));
  EXPECT_THAT(indices(asks_in_line(book, asks_by_reserve(book))), ElementsAre(0, 2, 1));
}

TEST(Serve, PassesOverGangsThatCannotBeWhole) {
  const Book book{{{1, 9_cr, 2}, {2, 9_cr, 4, 3}, {3, 9_cr, 5}}, {}, {}};
  EXPECT_THAT(serve(book, bids_by_limit(book), 4), ElementsAre(Lot{9_cr, 0, 2}, Lot{9_cr, 2, 2}));
  EXPECT_THAT(serve(book, bids_by_limit(book), 5), ElementsAre(Lot{9_cr, 0, 2}, Lot{9_cr, 1, 3}));
  EXPECT_TRUE(serve(book, bids_by_limit(book), 0).empty());
}

TEST(Displaced, AddsUpTheBestUnitsAndThenWhatIsBeyond) {
  const Displaced displaced({{9_cr, 0, 2}, {4_cr, 1, 1}});
  const struct {
    std::int64_t units;
    Credits sum;
  } cases[] = {{0, 0_cr}, {1, 9_cr}, {2, 18_cr}, {3, 22_cr}, {5, 24_cr}};
  for (const auto& c : cases) EXPECT_TRUE(displaced.sum(c.units, 1_cr) == c.sum.micro) << c.units;
  EXPECT_TRUE(Displaced({}).sum(3, 2_cr) == (6_cr).micro);
}

TEST(Average, RoundsTheWayItSays) {
  const struct {
    std::int64_t sum, units, down, up;
  } cases[] = {{7, 2, 3, 4}, {6, 2, 3, 3}, {-7, 2, -4, -3}, {-6, 2, -3, -3}, {0, 5, 0, 0}};
  for (const auto& c : cases) {
    EXPECT_EQ(average_down(c.sum, c.units), Credits(c.down)) << c.sum;
    EXPECT_EQ(average_up(c.sum, c.units), Credits(c.up)) << c.sum;
  }
  EXPECT_EQ(midpoint(Credits(2), Credits(5)), Credits(3));
  EXPECT_EQ(midpoint(Credits(-2), Credits(-5)), Credits(-4));
}

TEST(PairUp, ChargesEveryOrderItsOwnPrice) {
  const Lots winners{{9_cr, 4, 1}, {8_cr, 2, 2}}, sellers{{1_cr, 7, 2}, {2_cr, 0, 9}};
  EXPECT_THAT(pair_up(winners, sellers),
              ElementsAre(Trade{2, 0, 1, 8_cr, 2_cr}, Trade{2, 7, 1, 8_cr, 1_cr},
                          Trade{4, 7, 1, 9_cr, 1_cr}));
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
