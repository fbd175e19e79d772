#include "mechanism/schedule/whole_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/books.h"

namespace souk::mechanism {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using testing::whole;

struct Case {
  std::vector<Bid> bids;
  std::vector<Ask> asks;
  std::vector<double> rates;
  std::vector<double> slots;  // Entitled to.
  std::vector<double> owed = {};
};

testing::Cleared dealt(const Case& c, SlotDeal* all = nullptr) {
  testing::Cleared out{.book = {c.bids, c.asks, {}}};
  out.book.rates = c.rates;
  const auto jobs = runnable(out.book);
  const auto types = slot_types(out.book, jobs, false, 16);
  Entitlement entitlement{c.slots, c.owed};
  entitlement.owed.resize(jobs.size(), 0);
  auto found = whole_slots(out.book, jobs, types, entitlement);
  if (all) *all = found;
  out.outcome.trades = std::move(found.trades);
  const auto legal = verify(out.book, out.outcome);
  EXPECT_TRUE(legal) << legal.error().message;
  return out;
}

Bid bid(std::int32_t units, std::int32_t gang = 1, int limit = 9) {
  return {0, whole(limit), units, gang};
}
Ask ask(std::int32_t units, int reserve = 1) { return {0, whole(reserve), units}; }

TEST(WholeSlots, WholePartsAreKeptAndTheRestGoesToTheLargestRemainder) {
  const auto out = dealt({{bid(9), bid(9), bid(9)}, {ask(6)}, {}, {2.6, 1.5, 1.9}});
  EXPECT_EQ(out.bought(0), 3);
  EXPECT_EQ(out.bought(1), 1) << "its 0.5 is less than 0.6 and 0.9";
  EXPECT_EQ(out.bought(2), 2);
}

TEST(WholeSlots, WhoIsOwedGoesFirst) {
  const Case c{{bid(1), bid(1)}, {ask(1)}, {}, {.6, .4}};
  EXPECT_EQ(dealt(c).bought(0), 1);
  auto owing = c;
  owing.owed = {0, .3};
  EXPECT_EQ(dealt(owing).bought(1), 1);
}

TEST(WholeSlots, AJobMayHaveSlotsOfSeveralTypes) {
  const auto out = dealt({{bid(3), bid(3)}, {ask(2), ask(4)}, {4, 1, 3, 2}, {1, 2, 1, 2}});
  EXPECT_EQ(out.bought(0), 3);
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 0, 1, whole(1), whole(1)}, Trade{0, 1, 2, whole(1), whole(1)},
                          Trade{1, 0, 1, whole(1), whole(1)}, Trade{1, 1, 2, whole(1), whole(1)}));
}

// The one that is served on the slow type is owed the difference.
TEST(WholeSlots, ASlotCountsAsWhatItDoes) {
  SlotDeal all;
  dealt({{bid(1), bid(1)}, {ask(1), ask(1)}, {4, 1, 4, 1}, {.5, .5, .5, .5}}, &all);
  EXPECT_THAT(all.entitled, ElementsAre(DoubleNear(.625, 1e-12), DoubleNear(.625, 1e-12)));
  EXPECT_THAT(all.received, ElementsAre(1, .25));
}

TEST(WholeSlots, GangsAreWholeAcrossTypesOrGetNothing) {
  const auto across = dealt({{bid(4, 4)}, {ask(2), ask(3)}, {2, 1}, {2, .5}});
  EXPECT_EQ(across.bought(0), 4);
  EXPECT_EQ(across.sold(0), 2);
  // Two gangs of three for five slots, and one who takes what is left.
  const auto out = dealt({{bid(3, 3), bid(3, 3), bid(5)}, {ask(5)}, {}, {2, 2, 1}});
  EXPECT_EQ(out.bought(0), 3);
  EXPECT_EQ(out.bought(1), 0);
  EXPECT_EQ(out.bought(2), 2);
}

TEST(WholeSlots, WhatIsLeftGoesToWhoIsFastestThere) {
  const auto out = dealt({{bid(2), bid(2)}, {ask(2), ask(2)}, {4, 1, 1, 4}, {0, 0, 0, 0}});
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 0, 2, whole(1), whole(1)}, Trade{1, 1, 2, whole(1), whole(1)}));
}

TEST(WholeSlots, LowLimitsGetTheLowReserves) {
  const auto out = dealt({{bid(1, 1, 9), bid(1, 1, 2)}, {ask(1, 1), ask(1, 5)}, {}, {1, 1}});
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 1, 1, whole(5), whole(5)}, Trade{1, 0, 1, whole(1), whole(1)}));
}

// Six machines each of which one job alone can run on, in fewer types than that.
TEST(WholeSlots, SlotsThatOnlyOneCanUseAreFoundOneByOne) {
  Book book;
  for (int i = 0; i < 6; ++i) {
    book.bids.push_back(bid(1));
    book.asks.push_back(ask(1));
    for (int a = 0; a < 6; ++a) book.rates.push_back(a == i ? 2 : 0);
  }
  const auto jobs = runnable(book);
  const auto types = slot_types(book, jobs, false, 2);
  ASSERT_TRUE(types.mixed);
  const auto found =
      whole_slots(book, jobs, types, {std::vector<double>(12, 0), std::vector<double>(6, 0)});
  ASSERT_EQ(found.trades.size(), 6u);
  for (std::uint32_t i = 0; i < 6; ++i) EXPECT_EQ(found.trades[i].ask, i);
  EXPECT_EQ(found.received, std::vector<double>(6, 1));
}

}  // namespace
}  // namespace souk::mechanism
