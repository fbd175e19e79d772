#include "mechanism/auction/vickrey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "mechanism/auction/k_double.h"
#include "mechanism/auction/sides.h"
#include "mechanism/testing/searches.h"

namespace souk::mechanism {
namespace {

using testing::asks;
using testing::bids;
using testing::clear;
using ::testing::ElementsAre;
using testing::random_book;
using namespace base::literals;

const Vickrey kVickrey(1'000'000);

// Krishna, Auction Theory, chapter 12: in a Vickrey auction of several units who wins m of them
// pays the m highest losing bids of others. Six units, three bidders:
//   1: 50, 47, 40, 32, 15, 5   2: 42, 28, 20, 12, 7, 3   3: 45, 35, 24, 14, 9, 6
// The six highest are 50, 47, 45, 42, 40, 35. Bidder 1 wins three and pays 32's rivals' 28 + 24 +
// 20, bidder 2 one and pays 32, bidder 3 two and pays 32 + 28.
TEST(Vickrey, ABuyerPaysTheLosingBidsOfOthersThatItKeepsOut) {
  Book book{.asks = {{1, 1_cr, 6}}};
  const std::vector<std::vector<int>> values{
      {50, 47, 40, 32, 15, 5}, {42, 28, 20, 12, 7, 3}, {45, 35, 24, 14, 9, 6}};
  for (std::uint64_t owner = 1; owner <= 3; ++owner)
    for (const auto value : values[owner - 1])
      book.bids.push_back({book.bids.size() + 1, testing::whole(value), 1, 1, owner});
  const auto out = clear(kVickrey, book);
  const auto paid = [&](std::uint64_t owner) {
    return testing::unit_prices(out.book, out.outcome, owner);
  };
  EXPECT_THAT(paid(1), ElementsAre(20_cr, 24_cr, 28_cr));
  EXPECT_THAT(paid(2), ElementsAre(32_cr));
  EXPECT_THAT(paid(3), ElementsAre(28_cr, 32_cr));
  EXPECT_EQ(out.platform_surplus, 0_cr);
}

TEST(Vickrey, AJobDoesNotBidAgainstItself) {
  // Four workers wanted at up to 2, two slots on offer at 0.5, nobody else.
  const auto out = clear(kVickrey, {{1, 2_cr, 4, 1, 7}}, {{1, 0.5_cr, 1}, {2, 0.5_cr, 1}}, 0.25_cr);
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 0, 1, 0.5_cr, 0.5_cr}, Trade{0, 1, 1, 0.5_cr, 0.5_cr}));
  EXPECT_EQ(out.outcome.price, 0.5_cr);
  // As the published rule has it, it pays its own limit.
  EXPECT_EQ(clear(KDouble(500'000), out.book).outcome.price, 2_cr);
}

TEST(Vickrey, EachFurtherSlotCostsWhatItIsOfferedFor) {
  const auto out = clear(kVickrey, {{1, 9_cr, 3}}, asks({1, 2, 5, 8}));
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 0, 1, 1_cr, 1_cr}, Trade{0, 1, 1, 2_cr, 2_cr},
                          Trade{0, 2, 1, 5_cr, 5_cr}));
  EXPECT_FALSE(out.outcome.price);
}

TEST(Vickrey, OtherBorrowersWhoGoWithoutRaiseThePrice) {
  // Of two slots at 1 the first would go to the other at 6 and the second to nobody.
  const auto out = clear(kVickrey, {{1, 9_cr, 2, 1, 1}, {2, 6_cr, 1, 1, 2}}, {{1, 1_cr, 2}});
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 0, 1, 1_cr, 1_cr}, Trade{0, 0, 1, 6_cr, 6_cr}));
  EXPECT_TRUE(verify(out.book, out.outcome));
  // The same bids of one owner do not compete.
  const auto own = clear(kVickrey, {{1, 9_cr, 2, 1, 1}, {2, 6_cr, 1, 1, 1}}, {{1, 1_cr, 2}});
  EXPECT_THAT(own.outcome.trades, ElementsAre(Trade{0, 0, 2, 1_cr, 1_cr}));
}

TEST(Vickrey, WithOneUnitEachAllPayWhatKDoubleAsksAtKappaZero) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    base::Random random(seed);
    auto book = random_book(random, {.most_units = 1, .gangs = false});
    book.reference = {};
    const auto one = clear(kVickrey, book), other = clear(KDouble(0), book);
    ASSERT_EQ(one.outcome.price, other.outcome.price) << "seed " << seed;
    ASSERT_EQ(one.trades(), other.trades()) << "seed " << seed;
  }
}

TEST(Vickrey, AGangThatIsPassedOverSetsNoPrice) {
  const auto out = clear(kVickrey, {{1, 10_cr, 3, 3, 1}, {2, 6_cr, 1, 1, 2}}, {{1, 2_cr, 2}});
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{1, 0, 1, 2_cr, 2_cr}));
}

TEST(Vickrey, AnOfferAtMarketStandsForTheSuggestedPrice) {
  EXPECT_EQ(kVickrey.market_ask(0.25_cr), 0.25_cr);
  EXPECT_EQ(clear(kVickrey, {{1, 2_cr, 4}}, {{1, 0_cr, 2}}, 0.25_cr).outcome.price, 0.25_cr);
  EXPECT_EQ(clear(kVickrey, {{1, 0.2_cr, 4}}, {{1, 0_cr, 2}}, 0.25_cr).trades(), 0);
  const auto half = *make("vickrey", {{"floor", "0.5"}});
  EXPECT_EQ(clear(*half, {{1, 0.2_cr, 4}}, {{1, 0_cr, 2}}, 0.25_cr).outcome.price, 0.125_cr);
  const auto none = *make("vickrey", {{"floor", "0"}});
  EXPECT_EQ(clear(*none, {{1, 0.2_cr, 4}}, {{1, 0_cr, 2}}, 0.25_cr).outcome.price, 0_cr);
}

TEST(Vickrey, EveryOutcomeIsLegalAndBalancedWhoeverOwnsWhat) {
  for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
    base::Random random(seed);
    const auto plain = random_book(random, {.gangs = seed % 2 == 0});
    const auto book = testing::owned(plain, random);
    ASSERT_EQ(testing::fault(kVickrey, book, seed), "") << "seed " << seed;
    const auto out = clear(kVickrey, book);
    for (const auto& t : out.outcome.trades) ASSERT_EQ(t.pays, t.gets) << "seed " << seed;
  }
}

// Small enough to try every allocation of it; three owners, no gangs.
Book small_book(std::uint64_t seed) {
  base::Random random(seed);
  const auto drawn =
      random_book(random, {.most_bids = 4, .most_asks = 4, .most_units = 2, .gangs = false});
  return testing::owned(drawn, random);
}

// Who trades, and so the gain, is as with k-double: the largest without gangs.
TEST(Vickrey, NoOtherAllocationWouldGainMoreWithoutGangs) {
  const Vickrey plain(0);
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const auto book = small_book(seed);
    ASSERT_EQ(clear(plain, book).gain, testing::brute_force_gain(book)) << "seed " << seed;
  }
}

// The largest gain of all but one owner, from the definition.
std::int64_t best_without(const Book& book, std::uint64_t owner, const Outcome* taken) {
  Book rest{.asks = book.asks};
  for (const auto& bid : book.bids)
    if (bid.owner != owner) rest.bids.push_back(bid);
  if (taken == nullptr) return testing::brute_force_gain(rest).micro;
  std::int64_t value = 0;
  for (const auto& t : taken->trades) {
    if (book.bids[t.bid].owner != owner) value += book.bids[t.bid].limit.micro * t.units;
    value -= book.asks[t.ask].reserve.micro * t.units;
  }
  return value;
}

// VCG from its definition: an owner pays what the others, lenders included, lose by it.
TEST(Vickrey, AnOwnerPaysWhatItCostsTheOthers) {
  const Vickrey plain(0);
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const auto book = small_book(seed);
    const auto out = clear(plain, book).outcome;
    for (std::uint64_t owner = 1; owner <= 3; ++owner) {
      std::int64_t paid = 0;
      for (const auto price : testing::unit_prices(book, out, owner)) paid += price.micro;
      ASSERT_EQ(paid, best_without(book, owner, nullptr) - best_without(book, owner, &out))
          << "seed " << seed << ", owner " << owner;
    }
  }
}

TEST(Vickrey, OwnDemandNeverRaisesOnesPriceInLargerBooks) {
  for (const auto highest : {10, 1000})
    EXPECT_EQ(
        testing::first_raise(
            kVickrey, {.count = 20'000, .shape = {.most_units = 6, .highest_micro = highest}}),
        "");
}

TEST(Vickrey, ImpossibleOrdersAreLeftOut) {
  const auto out = clear(kVickrey, {{1, 10_cr, 0}, {2, 9_cr, 2, 3}, {3, 8_cr, -1}, {4, 6_cr, 1, 0}},
                         {{1, 0_cr, 0}, {2, 1_cr, -4}, {3, 2_cr}});
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{3, 2, 1, 2_cr, 2_cr}));
}

}  // namespace
}  // namespace souk::mechanism
