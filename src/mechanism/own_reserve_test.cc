#include "mechanism/own_reserve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/more_books.h"

namespace souk::mechanism {
namespace {

using testing::asks;
using testing::bids;
using ::testing::ElementsAre;
using testing::random_book;
using namespace base::literals;

TEST(OwnReserve, WhoCanPayMoreGivesWay) {
  const Book book{bids({10, 1}), asks({1, 10}), {}};
  OwnReserve slots(book);
  EXPECT_EQ(slots.room(0), 2);
  slots.give(0, 1);
  EXPECT_EQ(slots.room(1), 1);
  slots.give(1, 1);
  EXPECT_EQ(slots.room(0), 0);
  EXPECT_THAT(slots.trades(),
              ElementsAre(Trade{0, 1, 1, 10_cr, 10_cr}, Trade{1, 0, 1, 1_cr, 1_cr}));
}

TEST(OwnReserve, AmongEqualLimitsTheEarlierBidHasTheCheaperSlot) {
  const Book book{bids({5, 5}), asks({3, 2}), {}};
  OwnReserve slots(book);
  slots.give(1, 1);
  slots.give(0, 1);
  EXPECT_THAT(slots.trades(), ElementsAre(Trade{0, 1, 1, 2_cr, 2_cr}, Trade{1, 0, 1, 3_cr, 3_cr}));
}

TEST(OwnReserve, EmptyBooksHaveNoRoom) {
  EXPECT_THAT(OwnReserve({}).trades(), ElementsAre());
  const Book book{bids({5}), asks({6}), {}};
  EXPECT_EQ(OwnReserve(book).room(0), 0);
}

// Whether every bid can have `given` units of asks it accepts: by Hall's condition, which for bids
// that accept everything up to their limit needs a look at each limit alone.
bool can_be(const Book& book, const std::vector<std::int64_t>& given) {
  for (const auto& top : book.bids) {
    std::int64_t need = 0, have = 0;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (book.bids[i].limit <= top.limit) need += given[i];
    for (const auto& ask : book.asks)
      if (ask.reserve <= top.limit) have += ask.units;
    if (need > have) return false;
  }
  return true;
}

TEST(OwnReserve, HasRoomExactlyWhileEverybodyCanBeServed) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random, {.gangs = false});
    if (book.bids.empty()) continue;
    OwnReserve slots(book);
    std::vector<std::int64_t> given(book.bids.size());
    for (int i = 0; i < 30; ++i) {
      const auto bid = random.below(book.bids.size());
      const auto room = slots.room(bid);
      auto more = given;
      more[bid] += room;
      ASSERT_TRUE(can_be(book, more)) << "seed " << seed;
      ++more[bid];
      ASSERT_FALSE(can_be(book, more)) << "seed " << seed;
      const auto most = std::min(room, book.bids[bid].units - given[bid]);
      if (most == 0) continue;
      const auto units = random.between(1, most);
      slots.give(bid, units);
      given[bid] += units;
      ASSERT_EQ(slots.given(bid), given[bid]);
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
  slots.give(0, 1);
  EXPECT_DEATH(slots.give(0, 1), "CHECK");
}

}  // namespace
}  // namespace souk::mechanism
