#include "mechanism/auction/ascending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

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

Bid pair(std::uint64_t id, Credits worth_of_two) {
  return {id, Credits(worth_of_two.micro / 2), 2, 2};
}

// economics.md, known answer 6: gangs of two, worth 9, 8, 7 and 6 each.
TEST(Ascending, PricesAGangByItsRivalAndDrawsAmongItsSellers) {
  const Book book{
      {pair(1, 9_cr), pair(2, 8_cr), pair(3, 7_cr), pair(4, 6_cr)}, asks({1, 2, 3, 4, 5, 6}), {}};
  std::set<std::size_t> ever_sold;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto out = clear(Ascending(), book, seed);
    EXPECT_EQ(out.outcome.price, 4_cr);
    EXPECT_EQ(out.bought(0), 2);
    EXPECT_EQ(out.trades(), 2);
    EXPECT_EQ(totals(book, out.outcome).buyers_pay, 8_cr);
    EXPECT_EQ(out.platform_surplus, 0_cr);
    EXPECT_THAT(out.outcome.lotteries, ElementsAre(Lottery{Side::sellers, {0, 1, 2, 3}, 2}));
    for (const auto& t : out.outcome.trades) ever_sold.insert(t.ask);
  }
  EXPECT_THAT(ever_sold, ElementsAre(0, 1, 2, 3));
}

// economics.md, known answer 5, buyers first.
TEST(Ascending, IsABalancedTradeReductionForSingleUnits) {
  const auto out = clear(Ascending(), bids({9, 8}), asks({3, 4}));
  EXPECT_EQ(out.outcome.price, 8_cr);
  EXPECT_EQ(out.bought(0), 1);
  EXPECT_EQ(out.trades(), 1);
  EXPECT_THAT(out.outcome.lotteries, ElementsAre(Lottery{Side::sellers, {0, 1}, 1}));
}

TEST(Ascending, StopsWhereThePricesMeet) {
  const struct {
    const char* name;
    std::vector<Bid> bids;
    std::vector<Ask> asks;
    std::optional<Credits> price;
    std::int64_t units;
  } cases[] = {
      {"a spare seller sets the price", bids({9}), asks({3, 4}), 4_cr, 1},
      {"a spare buyer sets none: at a tie the buyers' price moves", bids({9, 7}), asks({3}), {}, 0},
      {"the buyer who leaves sets the price of the others", bids({9, 8, 7}), asks({3, 4, 5}), 7_cr,
       2},
      {"nobody sets a price for the last pair", bids({9}), asks({3}), std::nullopt, 0},
      {"nothing crosses", bids({4, 3}), asks({5, 6}), std::nullopt, 0},
      {"no bids", {}, asks({5}), std::nullopt, 0},
      {"no asks", bids({5}), {}, std::nullopt, 0},
      {"one price only", bids({5, 5}), asks({5, 5}), 5_cr, 1},
      {"two sizes of gang",
       {{1, 9_cr, 3, 3}, {2, 8_cr, 2, 2}, {3, 5_cr}},
       asks({1, 2, 3, 4, 6, 7}),
       7_cr,
       5},
  };
  for (const auto& c : cases) {
    const auto out = clear(Ascending(), c.bids, c.asks);
    EXPECT_EQ(out.outcome.price, c.price) << c.name;
    EXPECT_EQ(out.trades(), c.units) << c.name;
  }
}

TEST(Ascending, AGangThatCannotBeWholeDoesNotHoldUpOthers) {
  const auto out = clear(Ascending(), {{1, 100_cr, 9, 9}, {2, 9_cr}, {3, 8_cr}}, asks({3, 4, 5}));
  EXPECT_EQ(out.bought(0), 0);
  EXPECT_EQ(out.outcome.price, 5_cr);
  EXPECT_EQ(out.trades(), 2);
}

TEST(Ascending, ImpossibleOrdersAreLeftOut) {
  const auto out = clear(Ascending(), {{1, 9_cr, 0}, {2, 9_cr, 2, 3}, {3, 9_cr, -1}, {4, 9_cr}},
                         {{1, 0_cr, 0}, {2, 1_cr, -4}, {3, 2_cr}, {4, 3_cr}});
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{3, 2, 1, 3_cr, 3_cr}));
}

TEST(Ascending, EveryOutcomeIsLegalBalancedAndAtOnePrice) {
  int traded = 0, drawn = 0;
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    base::Random random(seed);
    const auto out = clear(Ascending(), random_book(random), seed);
    ASSERT_EQ(testing::fault(Ascending(), out.book, seed), "") << "seed " << seed;
    ASSERT_TRUE(fit_to_settle(out.outcome)) << "seed " << seed;
    const auto money = totals(out.book, out.outcome);
    ASSERT_EQ(money.buyers_pay, money.sellers_get) << "seed " << seed;
    ASSERT_EQ(out.outcome.price.has_value(), out.trades() > 0) << "seed " << seed;
    for (const auto& t : out.outcome.trades)
      ASSERT_TRUE(t.pays == *out.outcome.price && t.gets == t.pays) << "seed " << seed;
    traded += out.trades() > 0;
    drawn += !out.outcome.lotteries.empty();
  }
  EXPECT_GT(traded, 1000);
  EXPECT_GT(drawn, 500);
}

TEST(Ascending, LyingAboutAPriceNeverPaysWhateverTheDraw) {
  EXPECT_EQ(testing::first_lie(
                Ascending(),
                {1000, {.most_bids = 6, .most_asks = 6, .most_units = 3, .highest_micro = 12}},
                {.highest_micro = 12}),
            "");
}

TEST(Ascending, LosesAtMostOneDealOfSingleUnits) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random, {.most_units = 1, .gangs = false});
    ASSERT_GE(clear(Ascending(), book).trades(), cross(book).units - 1) << "seed " << seed;
  }
}

TEST(Ascending, LosesAtMostOneGangWhereAllHaveTheSameSize) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    base::Random random(seed);
    auto book = random_book(random, {.most_asks = 24, .most_units = 1, .gangs = false});
    const auto size = static_cast<std::int32_t>(random.between(2, 4));
    for (auto& bid : book.bids) bid.units = bid.gang = size;
    // The largest k for which the k best gangs each accept the worst of k x size asks.
    const auto wanted = bids_by_limit(book), offered = asks_by_reserve(book);
    std::int64_t k = 0;
    const auto fits = [&](std::int64_t n) {
      return n <= std::ssize(wanted) && n * size <= std::ssize(offered) &&
             wanted[static_cast<std::size_t>(n - 1)].price >=
                 offered[static_cast<std::size_t>(n * size - 1)].price;
    };
    while (fits(k + 1)) ++k;
    ASSERT_GE(clear(Ascending(), book).trades(), (k - 1) * size) << "seed " << seed;
  }
}

// Who took part in the first draw, by id.
std::set<std::uint64_t> drawn_from(const testing::Cleared& out) {
  std::set<std::uint64_t> ids;
  if (out.outcome.lotteries.empty()) return ids;
  const auto& lottery = out.outcome.lotteries.front();
  for (const auto i : lottery.from)
    ids.insert(lottery.side == Side::buyers ? out.book.bids[i].id : 100 + out.book.asks[i].id);
  return ids;
}

TEST(Ascending, TheOrderOfTheBookDoesNotMatterBeyondTiesAndDraws) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    base::Random random(seed);
    const auto book = testing::without_ties(random_book(random));
    const auto one = clear(Ascending(), book),
               other = clear(Ascending(), testing::shuffled(book, random));
    ASSERT_EQ(one.outcome.price, other.outcome.price) << "seed " << seed;
    ASSERT_EQ(drawn_from(one), drawn_from(other)) << "seed " << seed;
  }
}

TEST(Ascending, HasNoParameters) {
  EXPECT_TRUE(make("ascending"));
  EXPECT_FALSE(make("ascending", {{"k", "1"}}));
  EXPECT_TRUE((*make("ascending"))->fit_for_live());
}

}  // namespace
}  // namespace souk::mechanism
