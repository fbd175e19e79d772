#include "mechanism/auction/cda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "mechanism/testing/more_books.h"

namespace souk::mechanism {
namespace {

using testing::asks;
using testing::bids;
using testing::clear;
using testing::random_book;
using namespace base::literals;

// economics.md, known answer 16.
TEST(Cda, ACrossingOrderTradesAtTheRestingPrice) {
  std::set<Credits> prices;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto out = clear(Cda(), {bids({9}), asks({3}), {}}, seed);
    ASSERT_EQ(out.trades(), 1);
    EXPECT_EQ(out.buyers_pay, out.sellers_get);
    prices.insert(out.buyers_pay);
  }
  // The bid rests at 9 if it comes first, the ask at 3 if it does.
  EXPECT_EQ(prices, (std::set{3_cr, 9_cr}));
}

TEST(Cda, TheBestPriceAtRestTradesFirstThenTheEarlier) {
  // Whenever the only bid comes last, it takes the two cheapest of four.
  const std::vector<Ask> four{{1, 5_cr}, {2, 3_cr, 1, 4}, {3, 3_cr, 1, 2}, {4, 3_cr, 1, 2}};
  int last = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto out = clear(Cda(), {{{1, 9_cr, 2}}, four, {}}, seed);
    ASSERT_EQ(out.trades(), 2);
    if (out.buyers_pay != 3_cr || out.outcome.trades.back().pays != 3_cr) continue;
    ++last;
    EXPECT_TRUE(out.sold(2) == 1 && out.sold(1) + out.sold(3) == 1);
  }
  EXPECT_GT(last, 20);
}

TEST(Cda, EveryInterleavingIsEquallyLikely) {
  int low = 0;
  constexpr int kDraws = 6000;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    // The ask comes first, between the bids, or last; only then does it meet the better bid.
    const auto out = clear(Cda(), {bids({5, 7}), asks({1}), {}}, seed);
    low += out.bought(0) == 1;
  }
  EXPECT_NEAR(low, kDraws * 2 / 3, 150);  // Some four standard deviations.
}

TEST(Cda, AGangIsWholeAtOnceOrWaitsForTheEnd) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto out = clear(Cda(), {{{1, 9_cr, 3, 3}}, asks({1, 2, 3}), {}}, seed);
    ASSERT_EQ(out.bought(0), 3) << "seed " << seed;
    for (const auto& t : out.outcome.trades)
      ASSERT_EQ(t.pays, out.book.asks[t.ask].reserve) << "seed " << seed;
  }
  const auto short_of = clear(Cda(), {{1, 9_cr, 3, 3}}, asks({1, 2}));
  EXPECT_EQ(short_of.trades(), 0);
}

TEST(Cda, ImpossibleOrdersAreLeftOut) {
  const auto out = clear(Cda(), {{1, 9_cr, 0}, {2, 9_cr, 2, 3}, {3, 9_cr, -1}, {4, 9_cr, 1, 0}},
                         {{1, 0_cr, 0}, {2, 1_cr, -4}, {3, 2_cr, 2}});
  EXPECT_EQ(out.trades(), 1);
  EXPECT_EQ(out.bought(3), 1);
}

TEST(Cda, EveryOutcomeIsLegalAndBalancedAndNothingCrossesInTheEnd) {
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    base::Random random(seed);
    const auto out = clear(Cda(), random_book(random), seed);
    ASSERT_EQ(testing::fault(Cda(), out.book, seed), "") << "seed " << seed;
    ASSERT_TRUE(fit_to_settle(out.outcome)) << "seed " << seed;
    ASSERT_EQ(out.platform_surplus, 0_cr) << "seed " << seed;
    for (const auto& t : out.outcome.trades)
      ASSERT_TRUE(t.pays == out.book.bids[t.bid].limit || t.pays == out.book.asks[t.ask].reserve)
          << "seed " << seed;
    for (std::size_t b = 0; b < out.book.bids.size(); ++b) {
      const auto& bid = out.book.bids[b];
      const auto missing = bid.units - out.bought(b);
      if (missing == 0 || bid.gang > bid.units) continue;
      std::int64_t crossing = 0;
      for (std::size_t a = 0; a < out.book.asks.size(); ++a)
        if (out.book.asks[a].reserve <= bid.limit) crossing += out.book.asks[a].units - out.sold(a);
      // A gang that nothing was done for may be short; anybody else took all there was.
      ASSERT_TRUE(crossing == 0 || (out.bought(b) == 0 && crossing < bid.gang)) << "seed " << seed;
    }
  }
}

TEST(Cda, IdsAndOwnersDecideNothing) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    const auto book = random_book(random);
    auto renamed = book;
    for (auto& b : renamed.bids) b.id = 1'000 - b.id, b.owner = b.id;
    for (auto& a : renamed.asks) a.id = 1'000 - a.id;
    ASSERT_EQ(clear(Cda(), book, seed).outcome.trades, clear(Cda(), renamed, seed).outcome.trades);
  }
}

// economics.md, known answers 10 and 19: Smith's chart 1 with traders who quote at random, but
// never at a loss, and come back with new quotes until they have traded or the day is over.
TEST(Cda, TradersWithoutIntelligenceComeCloseToSmithsEquilibrium) {
  constexpr int kDays = 200, kRounds = 60;
  double sum = 0;
  for (std::uint64_t day = 1; day <= kDays; ++day) {
    base::Random random(day);
    std::vector<std::optional<Credits>> values, costs;
    for (std::int64_t i = 0; i < 11; ++i) {
      values.push_back(3.25_cr - Credits(250'000 * i));
      costs.push_back(0.75_cr + Credits(250'000 * i));
    }
    Credits gain;
    for (int round = 0; round < kRounds; ++round) {
      Book book;
      for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i]) book.bids.push_back({i, Credits(random.between(0, values[i]->micro))});
      for (std::size_t i = 0; i < costs.size(); ++i)
        if (costs[i])
          book.asks.push_back({i, Credits(random.between(costs[i]->micro, (4_cr).micro))});
      random.shuffle(book.bids);
      random.shuffle(book.asks);
      for (const auto& t : Cda().clear(book, random).trades) {
        auto& value = values[book.bids[t.bid].id];
        auto& cost = costs[book.asks[t.ask].id];
        gain += *value - *cost;
        value.reset();
        cost.reset();
      }
    }
    sum += static_cast<double>(gain.micro) / 7.5e6;
  }
  EXPECT_GE(sum / kDays, 0.92);
  EXPECT_LE(sum / kDays, 1.0);
}

TEST(Cda, HasNoParameters) {
  EXPECT_TRUE((*make("cda"))->fit_for_live());
  EXPECT_FALSE(make("cda", {{"k", "1"}}));
}

}  // namespace
}  // namespace souk::mechanism
