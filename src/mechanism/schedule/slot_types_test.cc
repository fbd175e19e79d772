#include "mechanism/schedule/slot_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/books.h"

namespace souk::mechanism {
namespace {

using testing::asks;
using testing::bids;
using ::testing::ElementsAre;

SlotTypes types_of(const Book& book, bool by_reserve = false, std::size_t most = 16) {
  return slot_types(book, runnable(book), by_reserve, most);
}

TEST(SlotTypes, EqualColumnsOfRatesAreOneType) {
  Book book{bids({9, 9}), asks({1, 2, 3, 4}), {}};
  book.rates = {4, 2, 4, 2,  //
                1, 5, 1, 4};
  const auto types = types_of(book);
  EXPECT_EQ(types.types, 3u);
  EXPECT_THAT(types.of_ask, ElementsAre(0, 1, 0, 2));
  EXPECT_THAT(types.units, ElementsAre(2, 1, 1));
  EXPECT_THAT(types.rates, ElementsAre(1, .5, .5, .2, 1, .8));
  EXPECT_THAT(types.fastest, ElementsAre(4, 5));
  EXPECT_FALSE(types.mixed);
}

TEST(SlotTypes, WithoutRatesAllAreAlikeUnlessReservesCount) {
  const Book book{bids({9, 5}), asks({1, 2, 2, 8, 10}), {}};
  EXPECT_THAT(types_of(book).of_ask, ElementsAre(0, 0, 0, 0, SlotTypes::kNone));
  const auto by_reserve = types_of(book, true);
  EXPECT_THAT(by_reserve.of_ask, ElementsAre(0, 1, 1, 2, SlotTypes::kNone));
  EXPECT_THAT(by_reserve.rates, ElementsAre(1, 1, 1, 1, 1, 0)) << "8 is above the second's limit";
  EXPECT_THAT(by_reserve.costs, ElementsAre(1e6, 2e6, 8e6));
}

TEST(SlotTypes, WhoAsksForTheMarketsPriceCostsTheSuggestedOne) {
  const Book book{bids({9}), asks({0, 2}), testing::whole(5)};
  EXPECT_THAT(types_of(book, true).costs, ElementsAre(5e6, 2e6));
}

// Machines that all differ a little: half of them suit one job, half the other, and on average
// they are equally fast.
TEST(SlotTypes, WhatDiffersMostIsKeptApart) {
  Book book{bids({9, 9}), {}, {}};
  base::Random random(1);
  for (int a = 0; a < 40; ++a) book.asks.push_back({static_cast<std::uint64_t>(a), {}});
  for (int i = 0; i < 2; ++i)
    for (int a = 0; a < 40; ++a)
      book.rates.push_back((a % 2 == i ? 4 : 1) * (1 + .02 * random.unit()));
  const auto two = types_of(book, false, 2);
  EXPECT_EQ(two.types, 2u);
  for (std::size_t a = 0; a < 40; ++a) EXPECT_EQ(two.of_ask[a], a % 2);
  EXPECT_EQ(types_of(book).types, 16u);
}

TEST(SlotTypes, AJobThatCannotRunOnAllOfATypeDoesNotCountOnIt) {
  Book book{bids({9, 9}), asks({1, 1, 1}), {}};
  book.rates = {1, 0, 1,  //
                0, 1, 1};
  const auto types = types_of(book, false, 1);
  EXPECT_TRUE(types.mixed);
  EXPECT_THAT(types.rates, ElementsAre(0, 0));
  EXPECT_FALSE(types_of(book).mixed);
}

TEST(SlotTypes, WhoCanNeverBeServedIsNotRunnable) {
  Book book{{{1, testing::whole(5), 3, 3}, {2, testing::whole(5), 2}, {3, testing::whole(0), 1}},
            asks({1, 4, 6}),
            {}};
  EXPECT_THAT(runnable(book), ElementsAre(1));
  book.rates = {1, 1, 1, 0, 0, 1, 1, 1, 1};
  EXPECT_THAT(runnable(book), ElementsAre());
  book.rates[3] = 1;
  EXPECT_THAT(runnable(book), ElementsAre(1));
}

}  // namespace
}  // namespace souk::mechanism
