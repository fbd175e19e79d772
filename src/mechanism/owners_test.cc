#include "mechanism/owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace souk::mechanism {
namespace {

using ::testing::ElementsAre;
using namespace base::literals;

TEST(Owners, AreInOrderOfTheirFirstBidThatCanTrade) {
  const Book book{{{1, 1_cr, 0, 1, 5},
                   {2, 1_cr, 2, 1, 9},
                   {3, 1_cr, 1, 1, 5},
                   {4, 1_cr, 2, 3, 7},
                   {5, 1_cr, 2, 2, 9},
                   {6, 1_cr, 1, 0, 2}},
                  {},
                  {}};
  const Owners owners(book);
  ASSERT_EQ(owners.size(), 3);
  EXPECT_EQ(owners.id(0), 9);
  EXPECT_EQ(owners.id(1), 5);
  EXPECT_EQ(owners.id(2), 2);
  EXPECT_THAT(owners.bids(0), ElementsAre(1, 4));
  EXPECT_THAT(owners.bids(1), ElementsAre(2));
  EXPECT_THAT(owners.bids(2), ElementsAre(5));
}

TEST(Owners, AnEmptyBookHasNone) { EXPECT_EQ(Owners({}).size(), 0); }

}  // namespace
}  // namespace souk::mechanism
