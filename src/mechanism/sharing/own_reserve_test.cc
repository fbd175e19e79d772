#include "mechanism/sharing/own_reserve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/more_books.h"

namespace souk::mechanism {
namespace {

using testing::asks;
using testing::bids;
using testing::can_be_served;
using ::testing::ElementsAre;
using testing::random_book;
using namespace base::literals;

TEST(OwnReserve, WhoCanPayMoreGivesWay) {
  const Book book{bids({10, 1}), asks({1, 10}), {}};
  OwnReserve slots(book);
  EXPECT_EQ(slots.give(0, 1, 1), 1);
  EXPECT_EQ(slots.give(1, 1, 1), 1);
  EXPECT_THAT(slots.trades(),
              ElementsAre(Trade{0, 1, 1, 10_cr, 10_cr}, Trade{1, 0, 1, 1_cr, 1_cr}));
}

TEST(OwnReserve, AmongEqualLimitsTheEarlierBidHasTheCheaperSlot) {
  const Book book{bids({5, 5}), asks({3, 2}), {}};
  OwnReserve slots(book);
  EXPECT_EQ(slots.give(1, 1, 1), 1);
  EXPECT_EQ(slots.give(0, 1, 1), 1);
  EXPECT_THAT(slots.trades(), ElementsAre(Trade{0, 1, 1, 2_cr, 2_cr}, Trade{1, 0, 1, 3_cr, 3_cr}));
}

TEST(OwnReserve, GivesAtLeastWhatIsNeededOrNothing) {
  const Book book{{{1, 5_cr, 9}, {2, 5_cr, 9}}, asks({1, 2, 3, 9}), {}};
  OwnReserve slots(book);
  EXPECT_EQ(slots.give(0, 4, 9), 0);
  EXPECT_EQ(slots.give(0, 2, 2), 2);
  EXPECT_EQ(slots.give(1, 1, 9), 1);
  EXPECT_EQ(slots.give(1, 1, 1), 0);
  EXPECT_EQ(slots.given(0), 2);
}

TEST(PairUpAtReserve, HandsOutUnitsInOrderAndListsThemByPosition) {
  const Book book{std::vector<Bid>(5), std::vector<Ask>(8), {}};
  const Lots winners{{9_cr, 4, 3}, {8_cr, 2, 2}}, sellers{{1_cr, 7, 2}, {2_cr, 0, 9}};
  EXPECT_THAT(pair_up_at_reserve(book, winners, sellers),
              ElementsAre(Trade{2, 0, 2, 2_cr, 2_cr}, Trade{4, 0, 1, 2_cr, 2_cr},
                          Trade{4, 7, 2, 1_cr, 1_cr}));
}

TEST(PairUpAtReserveDeathTest, NeverInventsUnits) {
  const Book book{std::vector<Bid>(1), std::vector<Ask>(1), {}};
  const Lots winners{{9_cr, 0, 3}}, sellers{{1_cr, 0, 2}};
  EXPECT_DEATH(std::ignore = pair_up_at_reserve(book, winners, sellers), "CHECK");
}

TEST(OwnReserve, EmptyBooksHaveNothingToGive) {
  EXPECT_THAT(OwnReserve({}).trades(), ElementsAre());
  const Book book{bids({5}), asks({6}), {}};
  EXPECT_EQ(OwnReserve(book).give(0, 1, 1), 0);
}

TEST(LowestFirst, EqualLimitsKeepTheirOrder) {
  const Book book{bids({5, 7, 5, 3, 7}), {}, {}};
  std::vector<std::uint32_t> order;
  for (const auto& lot : bids_lowest_first(book)) order.push_back(lot.index);
  EXPECT_THAT(order, ElementsAre(3, 0, 2, 1, 4));
}

TEST(LowestFirst, EachIsOfferedWhatItsLimitAcceptsAndLowerOnesLeft) {
  const Book book{{{1, 9_cr, 5}, {2, 2_cr, 5}, {3, 4_cr, 5, 3}}, asks({1, 2, 3, 4, 8}), {}};
  const auto lowest = bids_lowest_first(book), cheapest = asks_by_reserve(book);
  EXPECT_THAT(within_limits(book, lowest, cheapest), ElementsAre(5, 2, 4));
  // The gang finds two left of the three that it needs, so all that the lowest leaves is for bid 0.
  const std::vector<std::int64_t> wanted{4, 2, 5};
  EXPECT_THAT(serve_lowest_first(book, lowest, cheapest, wanted),
              ElementsAre(Lot{2_cr, 1, 2}, Lot{9_cr, 0, 3}));
}

TEST(OwnReserve, GivesExactlyWhileEverybodyCanBeServed) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random, {.gangs = false});
    if (book.bids.empty()) continue;
    OwnReserve slots(book);
    std::vector<std::int64_t> given(book.bids.size());
    for (int i = 0; i < 30; ++i) {
      const auto bid = random.below(book.bids.size());
      const auto wanted = book.bids[bid].units - given[bid];
      if (wanted == 0) continue;
      const auto most = random.between(1, wanted), needs = random.between(1, most);
      const auto got = slots.give(bid, needs, most);
      auto more = given;
      given[bid] += got;
      ASSERT_TRUE(can_be_served(book, given)) << "seed " << seed;
      more[bid] += got == 0 ? needs : got + 1;
      if (got < most) ASSERT_FALSE(can_be_served(book, more)) << "seed " << seed;
      ASSERT_TRUE(got == 0 || got >= needs) << "seed " << seed;
      ASSERT_EQ(slots.given(bid), given[bid]) << "seed " << seed;
    }
    const Outcome outcome{slots.trades(), {}};
    ASSERT_TRUE(verify(book, outcome)) << "seed " << seed;
    for (std::size_t i = 0; i < given.size(); ++i) {
      std::int64_t got = 0;
      for (const auto& t : outcome.trades) got += t.bid == i ? t.units : 0;
      ASSERT_EQ(got, given[i]) << "seed " << seed;
    }
  }
}

TEST(OwnReserveDeathTest, NeverGivesABidMoreThanItWants) {
  const Book book{bids({5}), asks({1, 1}), {}};
  OwnReserve slots(book);
  EXPECT_EQ(slots.give(0, 1, 1), 1);
  EXPECT_DEATH(slots.give(0, 1, 1), "CHECK");
}

}  // namespace
}  // namespace souk::mechanism
