#include "mechanism/sharing/max_min.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/searches.h"

namespace souk::mechanism {
namespace {

using testing::can_be_served;
using testing::clear;
using testing::Cleared;
using ::testing::ElementsAre;
using testing::random_book;
using testing::wants;
using namespace base::literals;

// A book whose bids belong to a few owners.
Book owned_book(base::Random& random, const testing::Shape& shape = {}) {
  auto book = random_book(random, shape);
  for (auto& bid : book.bids) bid.owner = 1 + random.below(4);
  return book;
}

std::vector<std::int64_t> bought(const Cleared& out) {
  std::vector<std::int64_t> units;
  for (std::size_t i = 0; i < out.book.bids.size(); ++i) units.push_back(out.bought(i));
  return units;
}

std::vector<std::int64_t> shares(const Book& book, const std::vector<std::int64_t>& units) {
  std::map<std::uint64_t, std::int64_t> held;
  for (std::size_t i = 0; i < units.size(); ++i) held[book.bids[i].owner] += units[i];
  std::vector<std::int64_t> out;
  for (const auto& [owner, n] : held) out.push_back(n);
  return out;
}

TEST(MaxMin, SharesSlotsAmongOwnersThenAmongTheirBids) {
  const struct {
    const char* name;
    std::vector<Bid> bids;
    std::int32_t slots;
    std::vector<std::int64_t> gets;
  } cases[] = {
      {"equal wishes, equal shares", {wants(1, 9), wants(2, 9), wants(3, 9)}, 6, {2, 2, 2}},
      {"small wishes are met first", {wants(1, 1), wants(2, 9), wants(3, 9)}, 7, {1, 3, 3}},
      {"what is left over goes to the earlier", {wants(7, 9), wants(2, 9)}, 5, {3, 2}},
      {"many bids do not make a larger share",
       {wants(1, 9), wants(1, 9), wants(2, 9)},
       8,
       {2, 2, 4}},
      {"an owner's bids share as owners do", {wants(1, 1), wants(1, 9), wants(2, 4)}, 9, {1, 4, 4}},
      {"a gang beyond its share does without",
       {wants(1, 4, 4), wants(2, 9), wants(3, 9)},
       6,
       {0, 3, 3}},
      {"a gang within its share is whole",
       {wants(1, 4, 3), wants(2, 9), wants(3, 9)},
       10,
       {4, 3, 3}},
      {"a gang may have what nobody else wants", {wants(1, 5, 5), wants(2, 1)}, 6, {5, 1}},
      {"no slots", {wants(1, 5)}, 0, {0}},
      {"plenty", {wants(1, 5), wants(2, 2)}, 99, {5, 2}},
  };
  for (const auto& c : cases) {
    const auto out = clear(MaxMin(), c.bids, {{1, 0_cr, c.slots}});
    EXPECT_EQ(bought(out), c.gets) << c.name;
    EXPECT_EQ(out.outcome.price, std::nullopt) << c.name;
  }
}

TEST(MaxMin, ALimitKeepsItsOwnerToCheaperSlotsNotToFewer) {
  const auto out =
      clear(MaxMin(), {wants(1, 9, 1, 10_cr), wants(2, 9, 1, 1_cr)}, {{1, 10_cr, 2}, {2, 1_cr, 2}});
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 0, 2, 10_cr, 10_cr}, Trade{1, 1, 2, 1_cr, 1_cr}));
}

TEST(MaxMin, EveryOutcomeIsLegalBalancedAtReservesAndLeavesNothingIdle) {
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    base::Random random(seed);
    const auto out = clear(MaxMin(), owned_book(random));
    ASSERT_EQ(testing::fault(MaxMin(), out.book, seed), "") << "seed " << seed;
    ASSERT_TRUE(fit_to_settle(out.outcome)) << "seed " << seed;
    ASSERT_EQ(testing::mispriced_or_idle(out), "") << "seed " << seed;
  }
}

TEST(MaxMin, NoOtherSharingIsFairerWithoutGangsAndWithALimitPerOwner) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    base::Random random(seed);
    auto book = owned_book(
        random,
        {.most_bids = 4, .most_asks = 4, .most_units = 3, .gangs = false, .highest_micro = 5});
    std::map<std::uint64_t, Credits> limits;  // One for each owner.
    for (auto& bid : book.bids) bid.limit = limits.emplace(bid.owner, bid.limit).first->second;
    auto best = shares(book, std::vector<std::int64_t>(book.bids.size()));
    // Every way to give each bid none to all of its units.
    std::vector<std::int64_t> units(book.bids.size());
    for (bool more = true; more;) {
      if (can_be_served(book, units)) {
        auto now = shares(book, units);
        std::ranges::sort(now);
        best = std::max(best, now);
      }
      more = false;
      for (std::size_t i = 0; i < units.size() && !more; ++i) {
        more = units[i] < book.bids[i].units;
        units[i] = more ? units[i] + 1 : 0;
      }
    }
    auto got = shares(book, bought(clear(MaxMin(), book)));
    std::ranges::sort(got);
    ASSERT_EQ(got, best) << "seed " << seed;
  }
}

TEST(MaxMin, AskingForMoreThanOneNeedsGainsNothing) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    auto book = random_book(random, {.most_bids = 6, .gangs = false});
    for (auto& bid : book.bids) bid.owner = bid.id;
    for (auto& ask : book.asks) ask.reserve = {};
    const auto honest = clear(MaxMin(), book);
    for (std::size_t i = 0; i < book.bids.size(); ++i)
      for (auto lie = book.bids[i].units + 1; lie <= 12; ++lie) {
        auto told = book;
        told.bids[i].units = lie;
        const auto useful =
            std::min<std::int64_t>(clear(MaxMin(), told).bought(i), book.bids[i].units);
        ASSERT_LE(useful, honest.bought(i)) << "seed " << seed;
      }
  }
}

TEST(MaxMin, TheOrderOfTheAsksDoesNotMatterBeyondTies) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    auto book = testing::without_ties(owned_book(random));
    const auto one = clear(MaxMin(), book);
    random.shuffle(book.asks);
    ASSERT_EQ(one.by_id(), clear(MaxMin(), book).by_id()) << "seed " << seed;
  }
}

TEST(MaxMin, BillionsOfSlotsAreSharedInAMomentAndNearlyEvenly) {
  constexpr std::int32_t kMany = 2'000'000'000;
  const auto out =
      clear(MaxMin(), {wants(1, kMany), wants(2, kMany), wants(3, 1'000)}, {{1, 0_cr, kMany}});
  EXPECT_EQ(out.trades(), kMany);
  EXPECT_EQ(out.bought(2), 1'000);
  EXPECT_NEAR(static_cast<double>(out.bought(0)), static_cast<double>(out.bought(1)), 1'000);
}

TEST(MaxMin, HasNoParameters) {
  EXPECT_TRUE((*make("max-min"))->fit_for_live());
  EXPECT_FALSE(make("max-min", {{"alpha", "1"}}));
}

}  // namespace
}  // namespace souk::mechanism
