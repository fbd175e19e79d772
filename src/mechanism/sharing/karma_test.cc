#include "mechanism/sharing/karma.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "mechanism/testing/more_books.h"

namespace souk::mechanism {
namespace {

using testing::clear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::random_book;
using testing::wants;
using namespace base::literals;

using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t slots(std::int64_t n) { return n * kKarmaPerSlot; }

// economics.md, known answer 13.
TEST(Karma, LendersEarnWhatBorrowersPay) {
  const Karma karma(500'000);
  Numbers standing(3, slots(6));
  EXPECT_THAT(karma.step(6, Numbers{4, 1, 1}, standing), ElementsAre(4, 1, 1));
  EXPECT_THAT(standing, ElementsAre(slots(4), slots(7), slots(7)));
  EXPECT_THAT(karma.step(6, Numbers{0, 3, 0}, standing), ElementsAre(0, 3, 0));
  EXPECT_THAT(standing, ElementsAre(slots(6), slots(6), slots(9)));
}

TEST(Karma, TheRichestBorrowsFirstAndThePoorestLendsFirst) {
  const Karma karma(1'000'000);
  Numbers standing{slots(5), slots(9), slots(2), slots(1)};
  // Everybody owns two; the third and fourth lend theirs to the second, until it is as poor as the
  // first, and then in turn.
  EXPECT_THAT(karma.step(8, Numbers{6, 6, 1, 1}, standing), ElementsAre(2, 4, 1, 1));
  EXPECT_THAT(standing, ElementsAre(slots(5), slots(7), slots(3), slots(2)));
}

TEST(Karma, WhoHasNoKarmaBorrowsNothing) {
  const Karma karma(1'000'000);
  Numbers standing{0, slots(1) - 1, slots(1)};
  EXPECT_THAT(karma.step(6, Numbers{5, 5, 0}, standing), ElementsAre(2, 2, 0));
  EXPECT_THAT(standing, ElementsAre(0, slots(1) - 1, slots(1)));
}

TEST(Karma, SharesThatAreNotWholeAreRoundedDownAndTheRestIsCommon) {
  const Karma karma(1'000'000);
  Numbers standing(3, slots(1));
  // Of 7 slots 2 each are owned, 1 is common and worth a third of a slot to everybody.
  EXPECT_THAT(karma.step(7, Numbers{3, 2, 2}, standing), ElementsAre(3, 2, 2));
  EXPECT_THAT(standing, ElementsAre(333'333, 1'333'333, 1'333'333));
}

TEST(Karma, NothingToShareOrNobodyToShareItIsNoTrouble) {
  const Karma karma(500'000);
  Numbers standing(2, slots(3));
  EXPECT_THAT(karma.step(0, Numbers{4, 1}, standing), ElementsAre(0, 0));
  EXPECT_THAT(standing, ElementsAre(slots(3), slots(3)));
  EXPECT_THAT(karma.step(5, {}, {}), ElementsAre());
}

TEST(Karma, NobodyStandsHigherThanTheMost) {
  const Karma karma(0);
  Numbers standing{kMostKarma, kMostKarma - 1, 0};
  std::ignore = karma.step(30, Numbers{0, 0, 0}, standing);
  EXPECT_THAT(standing, ElementsAre(kMostKarma, kMostKarma, slots(10)));
}

TEST(Karma, TheMostSlotsAndTheMostKarmaDoNotOverflow) {
  Numbers standing{kMostKarma, 0, kMostKarma};
  EXPECT_THAT(Karma(1'000'000).step(kMostKarmaSlots, Numbers{kMostKarmaSlots, 0, 0}, standing),
              ElementsAre(kMostKarmaSlots / 3 + kMostKarma / kKarmaPerSlot, 0, 0));
  // The poorest lends all that is borrowed, for as much as anybody may have.
  EXPECT_THAT(standing, ElementsAre(0, kMostKarma, kMostKarma));
}

TEST(Karma, NoSlotIsIdleWhileSomebodyWantsItAndNoKarmaIsLost) {
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    base::Random random(seed);
    const auto users = static_cast<std::size_t>(random.between(1, 6));
    const Karma karma(random.between(0, 1'000'000));
    Numbers standing(users, slots(1'000));
    for (int step = 0; step < 8; ++step) {
      const auto supply = random.between(0, 20);
      Numbers demands;
      for (std::size_t i = 0; i < users; ++i) demands.push_back(random.between(0, 10));
      const auto before = standing;
      const auto got = karma.step(supply, demands, standing);
      const auto given = std::accumulate(got.begin(), got.end(), std::int64_t{0});
      const auto wanted = std::accumulate(demands.begin(), demands.end(), std::int64_t{0});
      ASSERT_EQ(given, std::min(supply, wanted)) << "seed " << seed;
      std::int64_t moved = 0;
      for (std::size_t i = 0; i < users; ++i) {
        ASSERT_LE(got[i], demands[i]) << "seed " << seed;
        ASSERT_GE(standing[i], 0) << "seed " << seed;
        moved += standing[i] - before[i];
      }
      // What lenders earn borrowers pay: karma is made and spent with common slots alone.
      ASSERT_LE(moved, slots(supply)) << "seed " << seed;
      ASSERT_GE(moved, -slots(1)) << "seed " << seed;
    }
  }
}

TEST(Karma, EverybodyIsSureOfItsGuaranteedShare) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    base::Random random(seed);
    const auto users = random.between(1, 6);
    const auto alpha_ppm = random.between(0, 1'000'000);
    const auto supply = random.between(0, 30);
    Numbers demands, standing;
    for (std::int64_t i = 0; i < users; ++i) {
      demands.push_back(random.between(0, 10));
      standing.push_back(random.between(0, slots(5)));
    }
    const auto got = Karma(alpha_ppm).step(supply, demands, standing);
    const auto share = supply * alpha_ppm / (1'000'000 * users);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_GE(got[i], std::min(demands[i], share)) << "seed " << seed;
  }
}

// What user 0 gets of what it really wants over several steps, if it says `told` instead.
std::int64_t useful(const Karma& karma, std::int64_t supply, const Numbers& before,
                    std::vector<Numbers> demands, const Numbers& told) {
  Numbers standing = before;
  std::int64_t sum = 0;
  for (std::size_t step = 0; step < demands.size(); ++step) {
    const auto wants = std::exchange(demands[step][0], told[step]);
    sum += std::min(wants, karma.step(supply, demands[step], standing)[0]);
  }
  return sum;
}

TEST(Karma, SayingThatOneWantsMoreGainsNothing) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    base::Random random(seed);
    const auto users = random.between(2, 4);
    const auto supply = random.between(1, 9);
    const Karma karma(random.chance(2) ? 500'000 * random.between(0, 2)
                                       : random.between(0, 1'000'000));
    std::vector<Numbers> demands;
    Numbers truth, standing;
    for (std::int64_t i = 0; i < users; ++i) standing.push_back(random.between(0, slots(8)));
    for (int step = 0; step < 4; ++step) {
      demands.emplace_back();
      for (std::int64_t i = 0; i < users; ++i) demands.back().push_back(random.between(0, supply));
      truth.push_back(demands.back()[0]);
    }
    const auto honest = useful(karma, supply, standing, demands, truth);
    // Every way to say more in any of the steps.
    auto told = truth;
    for (bool more = true; more;) {
      ASSERT_LE(useful(karma, supply, standing, demands, told), honest) << "seed " << seed;
      more = false;
      for (std::size_t i = 0; i < told.size() && !more; ++i) {
        more = told[i] < supply;
        told[i] = more ? told[i] + 1 : truth[i];
      }
    }
  }
}

TEST(Karma, SayingLessMayPayForWhoKnowsTheFuture) {
  // User 0 does without in the first step and is rich when all want slots.
  const std::vector<Numbers> demands{{3, 1, 5}, {4, 5, 4}, {3, 2, 3}};
  const Numbers standing(3, slots(10));
  EXPECT_EQ(useful(Karma(0), 6, standing, demands, {3, 4, 3}), 6);
  EXPECT_EQ(useful(Karma(0), 6, standing, demands, {0, 4, 3}), 7);
}

const KarmaShares kHalfKept(500'000, slots(6));

// The known answer again, through two books.
TEST(KarmaShares, CarriesKarmaFromOneBookToTheNext) {
  const auto one =
      clear(kHalfKept, {wants(1, 4), wants(2, 1), wants(3, 1)}, {{1, 0_cr, 4}, {2, 2_cr, 2}});
  EXPECT_EQ(one.bought(0), 4);
  EXPECT_EQ(one.trades(), 6);
  EXPECT_THAT(one.outcome.standing,
              ElementsAre(Pair(1, slots(4)), Pair(2, slots(7)), Pair(3, slots(7))));
  const auto two =
      clear(kHalfKept,
            Book{.bids = {wants(2, 3)}, .asks = {{1, 0_cr, 6}}, .standing = one.outcome.standing});
  EXPECT_EQ(two.bought(0), 3);
  EXPECT_THAT(two.outcome.standing,
              ElementsAre(Pair(1, slots(6)), Pair(2, slots(6)), Pair(3, slots(9))));
}

TEST(KarmaShares, ANewcomerBeginsWithTheMean) {
  const auto out =
      clear(kHalfKept,
            Book{.bids = {wants(5, 1)}, .asks = {}, .standing = {{2, slots(3)}, {9, slots(8)}}});
  EXPECT_THAT(out.outcome.standing,
              ElementsAre(Pair(2, slots(3)), Pair(5, 5'500'000), Pair(9, slots(8))));
}

TEST(KarmaShares, TheRicherOwnerGetsTheScarceSlots) {
  const auto out = clear(kHalfKept, Book{.bids = {wants(1, 9), wants(2, 9)},
                                         .asks = {{1, 0_cr, 4}},
                                         .standing = {{1, slots(3)}, {2, slots(9)}}});
  EXPECT_EQ(out.bought(0), 1);
  EXPECT_EQ(out.bought(1), 3);
}

TEST(KarmaShares, WhatAGangOrALimitCannotUseGoesToOthersAndIsNotPaidFor) {
  // Owner 1 would get three of six, too few for its gang; owner 3's limit is below every reserve.
  const auto out =
      clear(kHalfKept, {wants(1, 5, 5), wants(2, 9), wants(3, 9, 1, 1_cr)}, {{1, 2_cr, 6}});
  EXPECT_EQ(out.bought(0), 0);
  EXPECT_EQ(out.bought(1), 6);
  EXPECT_EQ(out.bought(2), 0);
  // One slot each is owned, three are common: the lenders earn 1 + 1, owner 2 pays for five.
  EXPECT_THAT(out.outcome.standing,
              ElementsAre(Pair(1, slots(8)), Pair(2, slots(2)), Pair(3, slots(8))));
}

TEST(KarmaShares, AnOwnersShareGoesToItsBidsInLine) {
  const auto out =
      clear(kHalfKept, {wants(1, 2), wants(2, 9), wants(1, 3, 3), wants(1, 9)}, {{1, 0_cr, 8}});
  EXPECT_EQ(out.bought(0), 2);
  EXPECT_EQ(out.bought(2), 0);
  EXPECT_EQ(out.bought(3), 2);
  EXPECT_EQ(out.bought(1), 4);
}

TEST(KarmaShares, EveryOutcomeIsLegalBalancedAtReservesAndKarmaMatchesTheSlots) {
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    base::Random random(seed);
    const KarmaShares rule(random.between(0, 1'000'000), random.between(0, slots(20)));
    auto book = random_book(random);
    for (auto& bid : book.bids) bid.owner = 1 + random.below(5);
    for (auto n = random.below(4); n > 0; --n)
      book.standing[1 + random.below(7)] = random.between(0, slots(20));
    ASSERT_EQ(testing::fault(rule, book, seed), "") << "seed " << seed;
    const auto out = clear(rule, book);
    ASSERT_TRUE(fit_to_settle(out.outcome)) << "seed " << seed;
    ASSERT_EQ(clear(rule, book).outcome.standing, out.outcome.standing) << "seed " << seed;
    for (const auto& t : out.outcome.trades)
      ASSERT_TRUE(t.pays == t.gets && t.gets == book.asks[t.ask].reserve) << "seed " << seed;
    for (const auto& [owner, karma] : out.outcome.standing)
      ASSERT_TRUE(karma >= 0 && karma <= kMostKarma) << "seed " << seed;
    for (const auto& [owner, karma] : book.standing)
      ASSERT_TRUE(out.outcome.standing.contains(owner)) << "seed " << seed;
  }
}

TEST(KarmaShares, NoSlotIsIdleWhileSomebodyWithKarmaWantsItAtMarketAsks) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    base::Random random(seed);
    auto book = random_book(random, {.gangs = false});
    for (auto& bid : book.bids) bid.owner = 1 + random.below(5);
    for (auto& ask : book.asks) ask.reserve = {};
    const auto out = clear(KarmaShares(random.between(0, 1'000'000), slots(1'000)), book);
    std::int64_t wanted = 0, offered = 0;
    for (const auto& bid : book.bids) wanted += bid.units;
    for (const auto& ask : book.asks) offered += ask.units;
    ASSERT_EQ(out.trades(), std::min(wanted, offered)) << "seed " << seed;
  }
}

TEST(KarmaShares, TheOrderOfTheAsksDoesNotMatterBeyondTies) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    auto book = testing::without_ties(random_book(random));
    for (auto& bid : book.bids) bid.owner = 1 + random.below(5);
    const auto one = clear(kHalfKept, book);
    random.shuffle(book.asks);
    const auto other = clear(kHalfKept, book);
    ASSERT_EQ(one.by_id(), other.by_id()) << "seed " << seed;
    ASSERT_EQ(one.outcome.standing, other.outcome.standing) << "seed " << seed;
  }
}

TEST(KarmaShares, BillionsOfSlotsAreSharedInAMoment) {
  constexpr std::int32_t kMany = 2'000'000'000;
  const auto out = clear(KarmaShares(500'000, kMostKarma),
                         {wants(1, kMany), wants(2, kMany), wants(3, 1'000)}, {{1, 0_cr, kMany}});
  EXPECT_EQ(out.trades(), kMany);
  EXPECT_EQ(out.bought(2), 1'000);
}

TEST(KarmaShares, RefusesAStandingThatNobodyCanHave) {
  for (const auto karma : {std::int64_t{-1}, kMostKarma + 1}) {
    const auto refused = kHalfKept.accepts(Book{.standing = {{7, karma}}});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("owner 7 stands at"));
  }
  EXPECT_TRUE(kHalfKept.accepts(Book{.standing = {{7, 0}, {8, kMostKarma}}}));
}

TEST(KarmaShares, ReadsItsParametersAndRefusesAnythingElse) {
  const auto standing = [](const Params& params) {
    return clear(**make("karma", params), {wants(1, 3), wants(2, 0)}, {{1, 0_cr, 4}})
        .outcome.standing.at(1);
  };
  // Of 4 slots owner 1, alone, owns 2 and earns the other 2, of which it borrows one.
  EXPECT_EQ(standing({}), slots(1'000'001));
  EXPECT_EQ(standing({{"credits", "0.5"}}), slots(1) + 500'000);
  EXPECT_EQ(standing({{"credits", "6"}, {"alpha", "1"}}), slots(6));
  EXPECT_TRUE((*make("karma"))->fit_for_live());
  for (const auto& [name, bad] : {std::pair{"alpha", "1.5"}, {"credits", "-1"}, {"beta", "1"}}) {
    const auto refused = make("karma", {{name, bad}});
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().field, name);
  }
}

}  // namespace
}  // namespace souk::mechanism
