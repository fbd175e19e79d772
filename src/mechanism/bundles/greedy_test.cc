#include "mechanism/bundles/greedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/searches.h"

namespace souk::mechanism {
namespace {

using testing::clear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::random_bundles;
using namespace base::literals;

// Red wants a, Green a and b, Blue b.
const Book kColours{.bids = {{1, 10_cr}, {2, 19_cr}, {3, 8_cr}},
                    .items = {"a", "b"},
                    .bundles = {{0}, {0, 1}, {1}}};

// economics.md, known answer 15.
TEST(Greedy, WinnersPayTheLeastThatWouldHaveWon) {
  EXPECT_THAT(clear(Greedy(1'000'000), kColours).outcome.awards,
              ElementsAre(Award{0, 9.5_cr}, Award{2, 0_cr}));
  // 10 times the square root of two is 14.14213562...: rounded down.
  EXPECT_THAT(clear(Greedy(500'000), kColours).outcome.awards, ElementsAre(Award{1, 14.142135_cr}));
  EXPECT_THAT(clear(Greedy(0), kColours).outcome.awards, ElementsAre(Award{1, 10_cr}));
}

TEST(Greedy, EqualRanksGoToTheEarlierBid) {
  // The square roots of 9 and 1 are exact, so that 30 for nine goods ties with 10 for one.
  Book book{.bids = {{1, 30_cr}, {2, 10_cr}}, .bundles = {{0, 1, 2, 3, 4, 5, 6, 7, 8}, {0}}};
  for (int i = 0; i < 9; ++i) book.items.push_back(std::to_string(i));
  EXPECT_THAT(clear(Greedy(500'000), book).outcome.awards, ElementsAre(Award{0, 30_cr}));
  std::swap(book.bids[0], book.bids[1]);
  std::swap(book.bundles[0], book.bundles[1]);
  EXPECT_THAT(clear(Greedy(500'000), book).outcome.awards, ElementsAre(Award{0, 10_cr}));
}

TEST(Greedy, WhoHasNoRivalPaysNothing) {
  const Book book{.bids = {{1, 5_cr}, {2, 7_cr}}, .items = {"a", "b"}, .bundles = {{0}, {1}}};
  EXPECT_THAT(clear(Greedy(500'000), book).outcome.awards,
              ElementsAre(Award{0, 0_cr}, Award{1, 0_cr}));
  EXPECT_THAT(clear(Greedy(500'000), Book{.items = {"a"}}).outcome.awards, IsEmpty());
}

TEST(Greedy, EveryOutcomeIsLegalAndWithoutDeficit) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    base::Random random(seed);
    const Greedy rule(random.between(0, 1'000'000));
    const auto book = random_bundles(random, {.most_bids = 12, .items = 6});
    ASSERT_EQ(testing::bundle_fault(rule, book), "") << "seed " << seed;
  }
}

TEST(Greedy, ServesAtLeastTheBestOverTheRootOfTheNumberOfGoods) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    base::Random random(seed);
    const auto book = random_bundles(random, {.most_bids = 10, .items = 7});
    const auto got = totals(book, clear(Greedy(500'000), book).outcome).gain.micro;
    const auto best = testing::brute_force_bundles(book);
    ASSERT_GE(got * got * std::ssize(book.items), best * best) << "seed " << seed;
  }
}

TEST(Greedy, LyingAboutALimitOrABundleNeverPays) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    base::Random random(seed);
    const Greedy rule(random.chance(2) ? 500'000 * random.between(0, 2)
                                       : random.between(0, 1'000'000));
    const auto book = random_bundles(random, {.most_bids = 5, .items = 3, .highest_micro = 8});
    ASSERT_EQ(testing::profitable_bundle_lie(rule, book, 15), "") << "seed " << seed;
  }
}

TEST(Greedy, TheLeastWinningLimitIsThePaymentRoundedUp) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    const Greedy rule(random.between(0, 1'000'000));
    const auto book = random_bundles(random);
    for (const auto& award : clear(rule, book).outcome.awards) {
      const auto wins = [&](std::int64_t limit) {
        auto told = book;
        told.bids[award.bid].limit = Credits(limit);
        const auto awards = clear(rule, told).outcome.awards;
        return std::ranges::any_of(awards, [&](const Award& a) { return a.bid == award.bid; });
      };
      ASSERT_TRUE(award.pays.micro == 0 || !wins(award.pays.micro - 1)) << "seed " << seed;
      ASSERT_TRUE(wins(award.pays.micro) || wins(award.pays.micro + 1)) << "seed " << seed;
    }
  }
}

TEST(GreedyDeathTest, ABookItDoesNotAcceptIsOurBug) {
  EXPECT_DEATH(std::ignore = clear(Greedy(0), Book{}), "CHECK");
}

TEST(Greedy, ReadsItsParameterAndRefusesAnythingElse) {
  const auto pays = [](const Params& params) {
    return clear(**make("greedy", params), kColours).outcome.awards.front().pays;
  };
  EXPECT_EQ(pays({}), 14.142135_cr);
  EXPECT_EQ(pays({{"l", "1"}}), 9.5_cr);
  for (const auto& [name, bad] : {std::pair{"l", "2"}, {"l", "half"}, {"k", "1"}}) {
    const auto refused = make("greedy", {{name, bad}});
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().field, name);
  }
}

}  // namespace
}  // namespace souk::mechanism
