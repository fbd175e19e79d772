#include "mechanism/bundles/vcg_combinatorial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/searches.h"

namespace souk::mechanism {
namespace {

using testing::clear;
using ::testing::ElementsAre;
using testing::random_bundles;
using namespace base::literals;

const VcgCombinatorial kVcg;

// economics.md, known answer 9.
TEST(VcgCombinatorial, EachWinnerPaysWhatItCostsTheOthers) {
  const Book book{.bids = {{1, 150_cr}, {2, 150_cr}, {3, 200_cr}},
                  .items = {"A", "B"},
                  .bundles = {{0}, {1}, {0, 1}}};
  EXPECT_THAT(clear(kVcg, book).outcome.awards, ElementsAre(Award{0, 50_cr}, Award{1, 50_cr}));
}

TEST(VcgCombinatorial, OneGoodIsAVickreyAuction) {
  const Book book{
      .bids = {{1, 5_cr}, {2, 9_cr}, {3, 7_cr}}, .items = {"A"}, .bundles = {{0}, {0}, {0}}};
  EXPECT_THAT(clear(kVcg, book).outcome.awards, ElementsAre(Award{1, 7_cr}));
}

TEST(VcgCombinatorial, AmongEqualsTheEarlierBidWins) {
  const Book book{.bids = {{1, 2_cr}, {2, 4_cr}, {3, 2_cr}, {4, 4_cr}},
                  .items = {"A", "B"},
                  .bundles = {{0}, {0, 1}, {1}, {0, 1}}};
  EXPECT_THAT(clear(kVcg, book).outcome.awards, ElementsAre(Award{0, 2_cr}, Award{2, 2_cr}));
}

TEST(VcgCombinatorial, AnEmptyBookSellsNothing) {
  EXPECT_THAT(clear(kVcg, Book{.items = {"A"}}).outcome.awards, ElementsAre());
}

// What the header warns of: one bidder for both goods pays less as two.
TEST(VcgCombinatorial, FalseNamesCanPay) {
  const Book honest{
      .bids = {{1, 300_cr}, {2, 200_cr}}, .items = {"A", "B"}, .bundles = {{0, 1}, {0, 1}}};
  EXPECT_THAT(clear(kVcg, honest).outcome.awards, ElementsAre(Award{0, 200_cr}));
  const Book split{.bids = {{1, 150_cr}, {2, 200_cr}, {3, 150_cr}},
                   .items = {"A", "B"},
                   .bundles = {{0}, {0, 1}, {1}}};
  EXPECT_THAT(clear(kVcg, split).outcome.awards, ElementsAre(Award{0, 50_cr}, Award{2, 50_cr}));
}

TEST(VcgCombinatorial, EveryOutcomeIsLegalEfficientAndWithoutDeficit) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    base::Random random(seed);
    const auto book = random_bundles(random, {.most_bids = 10, .items = 6});
    ASSERT_EQ(testing::bundle_fault(kVcg, book), "") << "seed " << seed;
    ASSERT_EQ(totals(book, clear(kVcg, book).outcome).gain.micro,
              testing::brute_force_bundles(book))
        << "seed " << seed;
  }
}

TEST(VcgCombinatorial, LyingAboutALimitOrABundleNeverPays) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    base::Random random(seed);
    const auto book = random_bundles(random, {.most_bids = 5, .items = 3, .highest_micro = 8});
    ASSERT_EQ(testing::profitable_bundle_lie(kVcg, book, 9), "") << "seed " << seed;
  }
}

TEST(VcgCombinatorial, TheOrderOfTheBookDoesNotMatterBeyondTies) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    auto book = random_bundles(random);
    // Powers of two apart from the rest: no two sums are alike.
    for (std::size_t i = 0; i < book.bids.size(); ++i)
      book.bids[i].limit = Credits(book.bids[i].limit.micro * 1'000 + (1 << i));
    std::vector<std::size_t> order(book.bids.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    random.shuffle(order);
    Book other{.items = book.items};
    for (const auto i : order) {
      other.bids.push_back(book.bids[i]);
      other.bundles.push_back(book.bundles[i]);
    }
    std::map<std::uint64_t, Credits> one_pays, other_pays;
    for (const auto& a : clear(kVcg, book).outcome.awards) one_pays[book.bids[a.bid].id] = a.pays;
    for (const auto& a : clear(kVcg, other).outcome.awards)
      other_pays[other.bids[a.bid].id] = a.pays;
    ASSERT_EQ(one_pays, other_pays) << "seed " << seed;
  }
}

// The bound of the header: the largest books must not take forever, however their bids conflict.
TEST(VcgCombinatorial, TheLargestBooksAreSolved) {
  for (const std::uint32_t items : {10u, 40u, 80u, 200u}) {
    base::Random random(items);
    Book book;
    for (std::uint32_t i = 0; i < items; ++i) book.items.push_back(std::to_string(i));
    for (std::size_t i = 0; i < VcgCombinatorial::kMostBids; ++i) {
      book.bids.push_back({i + 1, Credits(1'000'000 + random.between(0, 3))});
      std::vector<std::uint32_t> bundle;
      for (int n = 0; n < 4; ++n) bundle.push_back(static_cast<std::uint32_t>(random.below(items)));
      std::ranges::sort(bundle);
      bundle.erase(std::ranges::unique(bundle).begin(), bundle.end());
      book.bundles.push_back(bundle);
    }
    EXPECT_EQ(testing::bundle_fault(kVcg, book), "");
  }
  // A ring: each bid conflicts with its two neighbours.
  Book ring;
  constexpr auto kSize = static_cast<std::uint32_t>(VcgCombinatorial::kMostBids);
  for (std::uint32_t i = 0; i < kSize; ++i) {
    ring.items.push_back(std::to_string(i));
    ring.bids.push_back({i + 1, 1_cr});
    ring.bundles.push_back({std::min(i, (i + 1) % kSize), std::max(i, (i + 1) % kSize)});
  }
  EXPECT_EQ(totals(ring, clear(kVcg, ring).outcome).gain, Credits(kSize / 2 * 1'000'000));
}

TEST(VcgCombinatorialDeathTest, ABookItDoesNotAcceptIsOurBug) {
  EXPECT_DEATH(std::ignore = clear(kVcg, Book{}), "CHECK");
}

TEST(VcgCombinatorial, HasNoParameters) {
  EXPECT_TRUE(make("vcg-combinatorial"));
  EXPECT_FALSE(make("vcg-combinatorial", {{"l", "1"}}));
}

}  // namespace
}  // namespace souk::mechanism
