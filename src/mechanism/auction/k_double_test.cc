#include "mechanism/auction/k_double.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/books.h"

namespace souk::mechanism {
namespace {

using testing::asks;
using testing::bids;
using testing::clear;
using ::testing::ElementsAre;
using testing::random_book;
using namespace base::literals;

const KDouble kHalf(500'000);

// economics.md, known answer 1.
TEST(KDouble, FindsThePriceBetweenTheMarginalPairs) {
  const struct {
    std::int64_t kappa_ppm;
    Credits price;
  } cases[] = {{0, 85_cr}, {250'000, 86.25_cr}, {500'000, 87.5_cr}, {1'000'000, 90_cr}};
  for (const auto& c : cases) {
    const auto out =
        clear(KDouble(c.kappa_ppm), bids({100, 90, 80, 70, 60}), asks({80, 85, 95, 100, 110}));
    EXPECT_EQ(out.outcome.price, c.price);
    EXPECT_EQ(out.trades(), 2);
    EXPECT_EQ(out.buyers_pay, c.price);
    EXPECT_EQ(out.sellers_get, c.price);
    EXPECT_EQ(out.platform_surplus, 0_cr);
    EXPECT_EQ(out.gain, 25_cr);
  }
}

// economics.md, known answer 10: Smith 1962, chart 1.
TEST(KDouble, ReachesSmithsEquilibrium) {
  Book book;
  for (std::int64_t i = 0; i < 11; ++i) {
    book.bids.push_back({.id = 1, .limit = 3.25_cr - Credits(250'000 * i)});
    book.asks.push_back({.id = 1, .reserve = 0.75_cr + Credits(250'000 * i)});
  }
  const auto out = clear(kHalf, book);
  EXPECT_EQ(out.outcome.price, 2_cr);
  EXPECT_EQ(out.trades(), 6);
  EXPECT_EQ(out.gain, 7.5_cr);
}

TEST(KDouble, PricesBooksThatLackANextBidOrAsk) {
  const struct {
    const char* name;
    std::vector<Bid> bids;
    std::vector<Ask> asks;
    std::optional<Credits> price;
  } cases[] = {
      {"neither: between the pair", bids({9}), asks({3}), 6_cr},
      {"no next ask: up to b_k", bids({9, 7}), asks({3}), 8_cr},
      {"no next bid: from s_k", bids({9}), asks({3, 5}), 4_cr},
      {"next ask out of reach of every bid", bids({9, 7}), asks({3, 100}), 8_cr},
      {"one price only", bids({5, 5}), asks({5, 5}), 5_cr},
      {"nothing crosses", bids({4}), asks({5}), std::nullopt},
      {"no bids", {}, asks({5}), std::nullopt},
      {"no asks", bids({5}), {}, std::nullopt},
      {"a market ask takes what comes", bids({5}), asks({0}), 2.5_cr},
  };
  for (const auto& c : cases)
    EXPECT_EQ(clear(kHalf, c.bids, c.asks).outcome.price, c.price) << c.name;
}

TEST(KDouble, RoundsThePriceDownToTheMicroCredit) {
  const auto price = [](std::int64_t kappa_ppm, std::int64_t low, std::int64_t high) {
    return clear(KDouble(kappa_ppm), bids({Credits(high)}), asks({Credits(low)}))
        .outcome.price->micro;
  };
  EXPECT_EQ(price(500'000, 1, 2), 1);
  EXPECT_EQ(price(999'999, 1, 2), 1);
  EXPECT_EQ(price(1'000'000, 1, 2), 2);
  EXPECT_EQ(price(500'000, 2, 5), 3);
  EXPECT_EQ(price(333'333, 0, 10), 3);
  EXPECT_EQ(price(500'000, 0, base::kMostCredits.micro), base::kMostCredits.micro / 2);
}

TEST(KDouble, APartlyServedBidPaysItsOwnLimit) {
  const auto out = clear(kHalf, {{1, 9_cr, 3}}, {{1, 1_cr, 2}, {2, 20_cr, 5}});
  EXPECT_EQ(out.trades(), 2);
  EXPECT_EQ(out.outcome.price, 9_cr);
}

TEST(KDouble, APartlySoldAskSetsThePrice) {
  const auto out = clear(kHalf, {{1, 9_cr, 2}}, {{1, 1_cr, 1}, {2, 4_cr, 5}});
  EXPECT_EQ(out.trades(), 2);
  EXPECT_EQ(out.outcome.price, 4_cr);
}

TEST(KDouble, AGangTooBigForTheMarketIsPassedOverAndSetsNoPrice) {
  // The gang of 3 at 10 finds 2 units; the single at 6 then trades. Had the gang counted as the
  // next bid, the price would be 10 and nobody would trade.
  const auto out = clear(kHalf, {{1, 10_cr, 3, 3}, {2, 6_cr}}, {{1, 2_cr, 2}});
  EXPECT_EQ(out.bought(0), 0);
  EXPECT_EQ(out.bought(1), 1);
  EXPECT_EQ(out.outcome.price, 2_cr);
}

TEST(KDouble, AGangTakesMoreThanItsMinimumWhereItCan) {
  const auto out = clear(kHalf, {{1, 10_cr, 8, 3}}, {{1, 2_cr, 4}, {2, 3_cr, 1}, {3, 11_cr, 9}});
  EXPECT_EQ(out.bought(0), 5);
  EXPECT_EQ(out.outcome.price, 10_cr);
}

TEST(KDouble, ImpossibleOrdersAreLeftOut) {
  const auto out = clear(kHalf, {{1, 10_cr, 0}, {2, 9_cr, 2, 3}, {3, 8_cr, -1}, {4, 6_cr, 1, 0}},
                         {{1, 0_cr, 0}, {2, 1_cr, -4}, {3, 2_cr}});
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{3, 2, 1, 4_cr, 4_cr}));
}

TEST(KDouble, TiesGoToTheEarlierBidAndTheLowerRank) {
  const auto out = clear(kHalf, bids({5, 5, 5}), {{1, 3_cr, 1, 7}, {2, 3_cr, 1, -1}, {3, 9_cr}});
  EXPECT_THAT(out.outcome.trades,
              ElementsAre(Trade{0, 1, 1, 5_cr, 5_cr}, Trade{1, 0, 1, 5_cr, 5_cr}));
}

TEST(KDouble, TheLastNeededAskIsTheOneWithTheWorstRank) {
  const auto out = clear(kHalf, bids({5}), {{1, 3_cr, 1, 7}, {2, 3_cr, 1, 4}, {3, 3_cr, 1, 4}});
  EXPECT_THAT(out.outcome.trades, ElementsAre(Trade{0, 1, 1, 3_cr, 3_cr}));
}

TEST(KDouble, EveryOutcomeIsLegalBalancedAndAtOnePrice) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    base::Random random(seed);
    const KDouble rule(random.between(0, 1'000'000));
    const auto out = clear(rule, random_book(random));
    const auto legal = verify(out.book, out.outcome);
    ASSERT_TRUE(legal) << "seed " << seed << ": " << legal.error().message;
    ASSERT_EQ(out.platform_surplus, 0_cr) << "seed " << seed;
    ASSERT_EQ(out.outcome.price.has_value(), out.trades() > 0) << "seed " << seed;
    for (const auto& t : out.outcome.trades)
      ASSERT_TRUE(t.pays == *out.outcome.price && t.gets == t.pays) << "seed " << seed;
    ASSERT_EQ(clear(rule, out.book).outcome.trades, out.outcome.trades) << "seed " << seed;
  }
}

TEST(KDouble, NobodyWillingAtThePriceIsLeftWithoutADeal) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    base::Random random(seed);
    const auto out = clear(KDouble(random.between(0, 1'000'000)), random_book(random));
    if (!out.outcome.price) continue;
    for (std::size_t i = 0; i < out.book.asks.size(); ++i)
      if (out.book.asks[i].reserve < *out.outcome.price)
        ASSERT_EQ(out.sold(i), out.book.asks[i].units) << "seed " << seed << ", ask " << i;
    for (std::size_t i = 0; i < out.book.bids.size(); ++i) {
      const auto& bid = out.book.bids[i];
      // Gangs may be passed over; anybody else goes short only at or below the price.
      if (bid.gang > 1 || bid.limit <= *out.outcome.price) continue;
      ASSERT_EQ(out.bought(i), bid.units) << "seed " << seed << ", bid " << i;
    }
  }
}

TEST(KDouble, NoOtherAllocationWouldGainMoreWithoutGangs) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    base::Random random(seed);
    const auto book =
        random_book(random, {.most_bids = 4, .most_asks = 4, .most_units = 2, .gangs = false});
    ASSERT_EQ(clear(kHalf, book).gain, testing::brute_force_gain(book)) << "seed " << seed;
  }
}

TEST(KDouble, TheOrderOfTheBookDoesNotMatterBeyondTies) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    base::Random random(seed);
    auto book = random_book(random);
    // Make all prices differ, keeping their order.
    for (auto& b : book.bids) b.limit = Credits(b.limit.micro * 100 + static_cast<int>(b.id));
    for (auto& a : book.asks) a.reserve = Credits(a.reserve.micro * 100 + static_cast<int>(a.id));
    const auto one = clear(kHalf, book), other = clear(kHalf, testing::shuffled(book, random));
    ASSERT_EQ(one.outcome.price, other.outcome.price) << "seed " << seed;
    ASSERT_EQ(one.by_id(), other.by_id()) << "seed " << seed;
  }
}

// The header says that single-unit buyers cannot gain at kappa 0, nor such sellers at kappa 1.
TEST(KDouble, LyingNeverPaysForTheSideThatGetsTheSlack) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    base::Random random(seed);
    const auto book =
        random_book(random, {.most_bids = 6, .most_asks = 6, .most_units = 1, .gangs = false});
    const auto gain = [&](const Book& b, std::int64_t kappa_ppm, std::size_t i) {
      const auto out = clear(KDouble(kappa_ppm), b);
      if (kappa_ppm == 0)
        return out.bought(i) > 0 ? (book.bids[i].limit - *out.outcome.price).micro : 0;
      return out.sold(i) > 0 ? (*out.outcome.price - book.asks[i].reserve).micro : 0;
    };
    for (std::int64_t lie = 0; lie <= 21; ++lie) {
      for (std::size_t i = 0; i < book.bids.size(); ++i) {
        auto told = book;
        told.bids[i].limit = Credits(lie);
        ASSERT_LE(gain(told, 0, i), gain(book, 0, i)) << "seed " << seed;
      }
      for (std::size_t i = 0; i < book.asks.size(); ++i) {
        auto told = book;
        told.asks[i].reserve = Credits(lie);
        ASSERT_LE(gain(told, 1'000'000, i), gain(book, 1'000'000, i)) << "seed " << seed;
      }
    }
  }
}

TEST(KDouble, ReadsKappaAndRefusesAnythingElse) {
  const auto book = Book{bids({9}), asks({3}), {}};
  const auto price = [&](const Params& params) {
    return clear(**make("k-double", params), book).outcome.price;
  };
  EXPECT_EQ(price({}), 6_cr);
  EXPECT_EQ(price({{"kappa", "0"}}), 3_cr);
  EXPECT_EQ(price({{"kappa", "0.25"}}), 4.5_cr);
  EXPECT_EQ(price({{"kappa", "1"}}), 9_cr);
  for (const auto* bad : {"", "-0.1", "1.000001", "0.0000001", "half", "nan", "1e-3"}) {
    const auto refused = make("k-double", {{"kappa", bad}});
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().field, "kappa");
    EXPECT_THAT(refused.error().hint, ::testing::HasSubstr("from 0 to 1"));
  }
}

}  // namespace
}  // namespace souk::mechanism
