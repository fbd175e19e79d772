#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "mechanism/mechanism.h"

namespace souk::mechanism {
namespace {

using ::testing::HasSubstr;
using namespace base::literals;

// Bid 11 wants 3 to 4 units at up to 9, bid 12 one at up to 7; ask 21 has 3 at 2, ask 22 two at 5.
const Book kBook{{{11, 9_cr, 4, 3}, {12, 7_cr}}, {{21, 2_cr, 3}, {22, 5_cr, 2}}, {}};

TEST(Verify, AcceptsEveryLegalOutcome) {
  const Outcome legal[] = {
      {},
      {{{0, 0, 3, 9_cr, 2_cr}}, {}},
      {{{0, 0, 3, 6_cr, 6_cr}, {0, 1, 1, 6_cr, 6_cr}, {1, 1, 1, 6_cr, 6_cr}}, 6_cr},
      {{{1, 0, 1, 7_cr, 2_cr}}, {}},
  };
  for (const auto& outcome : legal) EXPECT_TRUE(verify(kBook, outcome));
}

TEST(Verify, RefusesEveryOutcomeThatWouldCheatSomebody) {
  const struct {
    const char* says;
    std::vector<Trade> trades;
  } cases[] = {
      {"names bid 2 of 2", {{2, 0, 1, 6_cr, 6_cr}}},
      {"names ask 2 of 2", {{1, 2, 1, 6_cr, 6_cr}}},
      {"is of 0 units", {{1, 0, 0, 6_cr, 6_cr}}},
      {"is of -1 units", {{1, 0, -1, 6_cr, 6_cr}}},
      {"bid 12 pays 7.000001 with a limit of 7", {{1, 0, 1, 7.000001_cr, 6_cr}}},
      {"ask 22 gets 4.999999 with a reserve of 5", {{1, 1, 1, 6_cr, 4.999999_cr}}},
      {"bid 12 for 1 units gets 2", {{1, 0, 2, 6_cr, 6_cr}}},
      {"bid 11 gets 2 units of a gang of 3", {{0, 0, 2, 6_cr, 6_cr}}},
      {"ask 21 of 3 units sells 4", {{0, 0, 3, 6_cr, 6_cr}, {1, 0, 1, 6_cr, 6_cr}}},
      {"trade 1 (bid 0, ask 0) is out of order", {{1, 1, 1, 6_cr, 6_cr}, {0, 0, 3, 6_cr, 6_cr}}},
      {"trade 1 (bid 0, ask 0) is out of order or repeated",
       {{0, 0, 2, 6_cr, 6_cr}, {0, 0, 1, 6_cr, 6_cr}}},
  };
  for (const auto& c : cases) {
    const auto result = verify(kBook, {c.trades, {}});
    ASSERT_FALSE(result) << c.says;
    EXPECT_THAT(result.error().message, HasSubstr(c.says));
  }
}

TEST(Verify, NobodyPaysAFeeAboveItsGain) {
  const std::vector<Trade> trades{{0, 0, 3, 8_cr, 3_cr}, {1, 1, 1, 7_cr, 6_cr}};
  const auto refusal = [&](std::vector<Fee> fees) {
    Outcome outcome{.trades = trades};
    outcome.fees = std::move(fees);
    const auto result = verify(kBook, outcome);
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(refusal({{Side::buyers, 0, 3_cr}, {Side::sellers, 0, 3_cr}, {Side::sellers, 1, 1_cr}}),
            "");
  EXPECT_EQ(refusal({{Side::buyers, 1, 0_cr}}), "");
  const struct {
    const char* says;
    std::vector<Fee> fees;
  } cases[] = {
      {"bid 0 pays a fee of 3.000001, more than it gains", {{Side::buyers, 0, 3.000001_cr}}},
      {"bid 1 pays a fee of 0.000001, more than it gains", {{Side::buyers, 1, Credits(1)}}},
      {"ask 1 pays a fee of 1.000001, more than it gains", {{Side::sellers, 1, 1.000001_cr}}},
      {"ask 0 pays a fee of -1", {{Side::sellers, 0, -1_cr}}},
      {"names bid 2 of 2", {{Side::buyers, 2, 0_cr}}},
      {"names ask 2 of 2", {{Side::sellers, 2, 0_cr}}},
      {"fee of bid 0 is out of order", {{Side::buyers, 1, 0_cr}, {Side::buyers, 0, 0_cr}}},
      {"fee of bid 0 is out of order", {{Side::sellers, 0, 0_cr}, {Side::buyers, 0, 0_cr}}},
      {"fee of ask 0 is out of order or repeated",
       {{Side::sellers, 0, 0_cr}, {Side::sellers, 0, 0_cr}}},
  };
  for (const auto& c : cases) EXPECT_THAT(refusal(c.fees), HasSubstr(c.says));
}

TEST(Verify, AFeeWithoutATradeIsRefused) {
  Outcome outcome;
  outcome.fees = {{Side::buyers, 0, Credits(1)}};
  EXPECT_FALSE(verify(kBook, outcome));
}

// Bid 11 wants a and b for up to 9, bid 12 wants b for up to 7, bid 13 wants c for up to 4.
const Book kBundles{.bids = {{11, 9_cr}, {12, 7_cr}, {13, 4_cr}},
                    .items = {"a", "b", "c"},
                    .bundles = {{0, 1}, {1}, {2}}};

TEST(Verify, NoGoodIsSoldTwiceAndNoBundleAboveItsWorth) {
  const auto refusal = [&](const Book& book, std::vector<Award> awards) {
    Outcome outcome;
    outcome.awards = std::move(awards);
    const auto result = verify(book, outcome);
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(refusal(kBundles, {{0, 9_cr}, {2, 0_cr}}), "");
  const struct {
    const char* says;
    std::vector<Award> awards;
  } cases[] = {
      {"'b' is sold twice", {{0, 1_cr}, {1, 1_cr}}},
      {"bid 11 pays 9.000001 for a bundle with a limit of 9", {{0, 9.000001_cr}}},
      {"bid 13 pays -1 for a bundle", {{2, -1_cr}}},
      {"names bid 3 of 3", {{3, 1_cr}}},
      {"award to bid 0 is out of order", {{2, 1_cr}, {0, 1_cr}}},
      {"award to bid 0 is out of order or repeated", {{0, 1_cr}, {0, 1_cr}}},
  };
  for (const auto& c : cases) EXPECT_THAT(refusal(kBundles, c.awards), HasSubstr(c.says));
  auto bad = kBundles;
  bad.bundles[1] = {7};
  EXPECT_THAT(refusal(bad, {{1, 1_cr}}), HasSubstr("bundle of bid 12 names item 7 of 3"));
}

TEST(FitToSettle, WhatAMarketCannotSettleIsNamed) {
  Outcome good{.trades = {{0, 0, 3, 8_cr, 8_cr}, {1, 1, 1, 7_cr, 6_cr}}};
  good.lotteries = {{Side::buyers, {0, 1}, 4}};
  EXPECT_TRUE(fit_to_settle({}));
  EXPECT_TRUE(fit_to_settle(good));
  auto deficit = good, lump_sum = good, bundle = good;
  deficit.trades[1].gets = 7.000001_cr;
  lump_sum.fees = {{Side::buyers, 0, 0_cr}};
  bundle.awards = {{0, 1_cr}};
  EXPECT_THAT(fit_to_settle(deficit).error().message,
              HasSubstr("trade 1: bid 1 pays 7 but ask 1 gets 7.000001"));
  EXPECT_THAT(fit_to_settle(lump_sum).error().message, HasSubstr("lump sums"));
  EXPECT_THAT(fit_to_settle(bundle).error().message, HasSubstr("bundles"));
}

TEST(Totals, CountFeesOnTheSideThatPaysThem) {
  Outcome outcome{.trades = {{0, 0, 3, 8_cr, 3_cr}, {1, 1, 1, 7_cr, 6_cr}}};
  outcome.fees = {{Side::buyers, 0, 2_cr}, {Side::sellers, 0, 0.5_cr}};
  const auto sums = totals(kBook, outcome);
  EXPECT_EQ(sums.units, 4);
  EXPECT_EQ(sums.buyers_pay, 33_cr);
  EXPECT_EQ(sums.sellers_get, 14.5_cr);
  EXPECT_EQ(sums.platform(), 18.5_cr);
  EXPECT_EQ(sums.gain, 23_cr);
  EXPECT_EQ(totals(kBook, {}).units, 0);
}

TEST(Totals, OfBundlesAreTheAwards) {
  Outcome outcome;
  outcome.awards = {{0, 8_cr}, {2, 1_cr}};
  const auto sums = totals(kBundles, outcome);
  EXPECT_EQ(sums.units, 2);
  EXPECT_EQ(sums.buyers_pay, 9_cr);
  EXPECT_EQ(sums.platform(), 9_cr);
  EXPECT_EQ(sums.gain, 13_cr);
}

TEST(Totals, StayAtTheEndOfWhatCreditsCanHold) {
  const auto most = base::kMostCredits;
  const Book book{{{1, most, 2'000'000'000}}, {{1, {}, 2'000'000'000}}, {}};
  const auto sums = totals(book, {{{0, 0, 2'000'000'000, most, {}}}, {}});
  EXPECT_EQ(sums.buyers_pay.micro, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(sums.gain, sums.buyers_pay);
}

TEST(Accepts, OnlySomeRulesTakeBundlesAndHalves) {
  const auto rule = *make("k-double");
  EXPECT_TRUE(rule->accepts(kBook));
  EXPECT_THAT(rule->accepts(kBundles).error().hint, HasSubstr("vcg-combinatorial"));
  auto halves = kBook;
  halves.bid_halves = {Half::left, Half::right};
  EXPECT_THAT(rule->accepts(halves).error().hint, HasSubstr("muda"));
}

}  // namespace
}  // namespace souk::mechanism
