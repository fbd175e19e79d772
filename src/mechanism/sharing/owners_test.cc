#include "mechanism/sharing/owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace souk::mechanism {
namespace {

using ::testing::ElementsAre;
using namespace base::literals;

TEST(Owners, AreThoseWithABidThatCanTrade) {
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
  EXPECT_EQ(owners.id(0), 2);
  EXPECT_EQ(owners.id(1), 5);
  EXPECT_EQ(owners.id(2), 9);
  EXPECT_THAT(owners.bids(0), ElementsAre(5));
  EXPECT_THAT(owners.bids(1), ElementsAre(2));
  EXPECT_THAT(owners.bids(2), ElementsAre(1, 4));
}

TEST(Owners, AnEmptyBookHasNone) { EXPECT_EQ(Owners({}).size(), 0); }

TEST(Owners, AreSortedAsAMapWouldWhateverTheirIds) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    base::Random random(seed);
    Book book;
    const auto spread = std::uint64_t{1} << random.below(64);
    std::map<std::uint64_t, std::vector<std::uint32_t>> expected;
    for (std::uint32_t i = 0; i < 50; ++i) {
      const auto owner =
          random.chance(9) ? std::numeric_limits<std::uint64_t>::max() : random.below(spread);
      book.bids.push_back({.owner = owner});
      expected[owner].push_back(i);
    }
    const Owners owners(book);
    ASSERT_EQ(owners.size(), expected.size());
    std::size_t at = 0;
    for (const auto& [id, bids] : expected) {
      ASSERT_EQ(owners.id(at), id);
      ASSERT_THAT(owners.bids(at), ::testing::ElementsAreArray(bids));
      ++at;
    }
  }
}

}  // namespace
}  // namespace souk::mechanism
