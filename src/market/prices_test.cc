#include "market/prices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "market/testing/noon.h"

namespace souk::market {
namespace {

using testing::kNoon;
using namespace base::literals;
using base::hours;
using base::minutes;

TEST(Prices, TheSummaryShowsWhatHalfThePeoplePaid) {
  PriceHistory h;
  EXPECT_EQ(h.summary(kNoon, kNoon + hours(1)).volume, 0);
  EXPECT_FALSE(h.summary(kNoon, kNoon + hours(1)).median);
  // By slots: 1 x4, 2 x3, 3 x2, 10 x1.
  h.traded(kNoon, 2_cr, 3);
  h.traded(kNoon + minutes(1), 1_cr, 4);
  h.traded(kNoon + hours(1), 10_cr, 1);
  h.traded(kNoon + hours(1), 3_cr, 2);
  const auto s = h.summary(kNoon, kNoon + hours(2));
  EXPECT_EQ(s.volume, 10);
  EXPECT_EQ(s.average, 2.6_cr);
  EXPECT_EQ(s.low, 1_cr);
  EXPECT_EQ(s.quartile1, 1_cr);
  EXPECT_EQ(s.median, 2_cr);
  EXPECT_EQ(s.quartile3, 3_cr);
  EXPECT_EQ(s.high, 10_cr);
  const auto first = h.summary(kNoon, kNoon + hours(1));
  EXPECT_EQ(first.volume, 7);
  EXPECT_EQ(first.high, 2_cr);
}

constexpr OwnerPair pair_of(std::uint64_t borrower, std::uint64_t lender) {
  return {AccountId(borrower), AccountId(lender)};
}

// Four owners trade with each other at `price`: enough to make a going rate.
void establish(PriceHistory& h, Time at, Credits price) {
  for (const auto& pair : {pair_of(1, 3), pair_of(1, 4), pair_of(2, 4)}) h.paid(at, pair, price, 0);
}

// Everybody has come to pay `price`, and `slots` are paid for.
void pay(PriceHistory& h, Time at, Credits price, std::int64_t slots) {
  h.traded(at, price, slots);
  establish(h, at, price);
  h.paid(at, pair_of(1, 3), price, slots);
}

TEST(Prices, TheAnchorPrefersTheSameTimeOfDay) {
  PriceHistory h;
  EXPECT_FALSE(h.anchor(12));
  pay(h, kNoon, 1_cr, 1);             // 12 o'clock
  pay(h, kNoon + hours(1), 2_cr, 3);  // 13
  pay(h, kNoon + hours(8), 9_cr, 4);  // 20
  EXPECT_EQ(h.anchor(12), 1.75_cr);   // 11, 12 and 13.
  EXPECT_EQ(h.anchor(14), 2_cr);
  EXPECT_EQ(h.anchor(20), 9_cr);
  EXPECT_EQ(h.anchor(4), Credits(5'375'000));  // Nothing near: all hours.
  pay(h, kNoon + hours(11), 4_cr, 1);          // 23 is next to 0.
  EXPECT_EQ(h.anchor(0), 4_cr);
}

TEST(Prices, ASuggestionFollowsTheUseOfTheSupply) {
  struct Row {
    Pressure pressure;
    Credits suggested;
  };
  const Row rows[] = {
      {{70, 30, 0}, 1_cr},     // At 70% the price stays.
      {{0, 0, 0}, 1_cr},       // Nothing at all says nothing.
      {{0, 100, 0}, 0.5_cr},   // 0.3, but it halves at most.
      {{50, 50, 0}, 0.8_cr},   //
      {{100, 0, 0}, 1.3_cr},   //
      {{50, 50, 50}, 1.3_cr},  // Those who wait count as well.
      {{0, 10, 1000}, 2_cr},   // It doubles at most.
      {{0, 0, 50}, 2_cr},      // Wanted, and none on offer.
      {{0, 0, 5}, 1.25_cr},    // A thin market moves less:
      {{0, 2, 0}, 0.95_cr},    // one borrower makes it idle
      {{2, 0, 0}, 1.03_cr},    // or crowded.
  };
  for (const auto& row : rows)
    EXPECT_EQ(suggested_price({}, 1_cr, row.pressure, kNoon, kNoon), row.suggested)
        << row.pressure.leased << " " << row.pressure.free << " " << row.pressure.queued;
  PriceHistory short_jobs;
  for (int i = 0; i < 3; ++i) short_jobs.ran(minutes(30));  // The queue moves twice as fast.
  EXPECT_EQ(suggested_price(short_jobs, 1_cr, {50, 50, 50}, kNoon, kNoon), 1.05_cr);
  pay(short_jobs, kNoon, 4_cr, 2);  // What was paid counts more than the class's own price.
  EXPECT_EQ(suggested_price(short_jobs, 1_cr, {70, 30, 0}, kNoon, kNoon), 4_cr);
}

TEST(Prices, ALaterHourIsPricedByItsOwnUsualUse) {
  PriceHistory h;
  h.sampled(kNoon + hours(8), 10, 0, 90);  // Evenings are crowded: 90% used.
  EXPECT_EQ(h.utilisation_ppm(20), 900'000);
  EXPECT_FALSE(h.utilisation_ppm(12));
  EXPECT_EQ(suggested_price(h, 1_cr, {0, 100, 0}, kNoon + hours(24), kNoon + hours(32)), 1.2_cr);
  EXPECT_EQ(suggested_price(h, 1_cr, {70, 30, 0}, kNoon + hours(24), kNoon + hours(26)), 1_cr);
}

TEST(Prices, OldHoursAndManyPricesDoNotFillTheMemory) {
  PriceHistory h;
  for (int i = 0; i < 300; ++i) h.traded(kNoon, Credits(i * 2), 1);
  ASSERT_EQ(h.hours().size(), 1u);
  EXPECT_EQ(h.hours().front().traded.size(), kPricesPerHour);
  EXPECT_EQ(h.summary(kNoon, kNoon + hours(1)).volume, 300);  // Counted at a near price.
  h.traded(kNoon, Credits(3), 1);
  EXPECT_EQ(h.hours().front().traded.at(Credits(4)), 2);  // The nearest above.
  EXPECT_EQ(h.hours().front().traded.rbegin()->second, 300 - 255);
  h.traded(kNoon + hours(5), 1_cr, 1);
  h.drop_before(kNoon + hours(1));
  EXPECT_EQ(h.hours().size(), 1u);
  EXPECT_EQ(h.summary(kNoon, kNoon + hours(9)).volume, 1);
  for (std::size_t i = 0; i < kRunTimesKept; ++i) h.ran(hours(9));
  for (std::size_t i = 0; i < kRunTimesKept; ++i) h.ran(minutes(static_cast<std::int64_t>(i)));
  EXPECT_EQ(h.median_run_time(), minutes(32));  // The nine hours are forgotten.
}

TEST(Prices, TheGoingRateIsWhatMostOwnersPayOrGet) {
  PriceHistory h;
  EXPECT_FALSE(h.rate());
  h.paid(kNoon, pair_of(1, 3), 1_cr, 1);
  h.paid(kNoon, pair_of(2, 3), 2_cr, 1);
  EXPECT_FALSE(h.rate());  // Three owners are too few.
  h.paid(kNoon, pair_of(2, 4), 2_cr, 1);
  EXPECT_EQ(h.rate(), 1.75_cr);  // Of 1, 2, 1.5 and 2.
  h.paid(kNoon, pair_of(1, 3), 2_cr, 1);
  EXPECT_EQ(h.rate(), 2_cr);
  h.paid(kNoon + kPairsFor, pair_of(1, 3), 2_cr, 1);
  EXPECT_FALSE(h.rate());  // The others are of yesterday.
}

TEST(Prices, OneAccountsVolumeMovesNothing) {
  PriceHistory h;
  for (std::uint64_t i = 1; i <= 6; ++i) h.paid(kNoon, pair_of(i, 10 + i / 2), 1_cr, 1);
  for (std::uint64_t i = 1; i <= 5; ++i) h.paid(kNoon, pair_of(i, 11 + i / 2), 1_cr, 1);
  ASSERT_EQ(h.rate(), 1_cr);
  // Somebody new pays one of them a hundred times as much, for all that he has.
  for (int i = 0; i < 1'000; ++i) h.paid(kNoon, pair_of(99, 11), 100_cr, 1'000);
  EXPECT_EQ(h.rate(), 1_cr);
  const auto anchor = h.anchor(12);
  ASSERT_TRUE(anchor);
  EXPECT_LE(*anchor, 1.1_cr);  // A step at most, if all the volume is his.
}

TEST(Prices, ACircleThatTradesOnlyWithItselfMovesNothing) {
  PriceHistory h;
  for (std::uint64_t i = 1; i <= 8; ++i) {
    h.paid(kNoon, pair_of(i, 100 + i), 1_cr, 1);
    h.paid(kNoon, pair_of(i, 101 + i), 1_cr, 1);
  }
  ASSERT_EQ(h.rate(), 1_cr);
  const auto anchor = h.anchor(12);
  for (std::uint64_t i = 0; i < 10; ++i)
    for (std::uint64_t k = 0; k < 5; ++k)
      h.paid(kNoon + minutes(1), pair_of(200 + i, 300 + k), 50_cr, 10'000);
  EXPECT_EQ(h.rate(), 1_cr);
  EXPECT_EQ(h.anchor(12), anchor);
}

// Whatever somebody with so many names does, the rate stays within what honest owners pay.
TEST(Prices, FewerNamesThanHonestOwnersNeverMoveTheRateOutOfWhatTheyPay) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    base::Random random(seed);
    PriceHistory h;
    const auto honest = static_cast<std::uint64_t>(random.between(4, 20));
    Credits low(1'000'000'000), high;
    const auto trade = [&](std::uint64_t i) {
      const Credits price(random.between(900'000, 1'100'000));
      low = std::min(low, price);
      high = std::max(high, price);
      h.paid(kNoon, pair_of(1 + i, 1 + (i + 1) % honest), price, random.between(1, 4));
    };
    for (std::uint64_t i = 0; i < honest; ++i) trade(i);
    const auto names = random.below(honest);
    const auto lie = [&](std::uint64_t borrower, std::uint64_t lender) {
      if (borrower != lender)
        h.paid(kNoon, pair_of(borrower, lender), Credits(random.between(0, 90'000'000)),
               random.between(1, 1'000));
    };
    const auto any_name = [&] { return 1'000 + random.below(names); };
    for (std::uint64_t n = 0; n < 40 && names > 0; ++n) lie(any_name(), any_name());
    // Each honest owner deals with one of them at most, else it is no longer outvoted.
    for (std::uint64_t i = 0; i < honest && names > 0; ++i)
      if (random.chance(3)) lie(any_name(), 1 + i);
    ASSERT_TRUE(h.rate());
    EXPECT_GE(*h.rate(), low) << seed;
    EXPECT_LE(*h.rate(), high) << seed;
  }
}

TEST(Prices, ManyPairsDoNotFillTheMemory) {
  PriceHistory h;
  for (std::uint64_t i = 1; i <= 8; ++i) {
    h.paid(kNoon, pair_of(i, 100 + i), 1_cr, 1);
    h.paid(kNoon, pair_of(i, 101 + i), 1_cr, 1);
  }
  for (std::uint64_t i = 0; i < 2'000; ++i)
    h.paid(kNoon + minutes(1), pair_of(1'000 + 2 * i, 1'001 + 2 * i), 9_cr, 1);
  EXPECT_LE(h.pairs().size(), kPairsKept);
  EXPECT_EQ(h.rate(), 1_cr);  // Pairs on their own push nobody out.
  for (std::uint64_t i = 0; i < 100; ++i)
    h.paid(kNoon + minutes(2), pair_of(1, 5'000 + i), 1_cr, 1);
  EXPECT_EQ(std::ranges::count_if(h.pairs().list(),
                                  [](const auto& p) { return p.pair.borrower.value == 1; }),
            static_cast<std::ptrdiff_t>(kPairsPerOwner));
}

TEST(Prices, AStepIsATenthAtMost) {
  EXPECT_EQ(step_towards(1_cr, 5_cr), 1.1_cr);
  EXPECT_EQ(step_towards(1_cr, 0_cr), 0.9_cr);
  EXPECT_EQ(step_towards(1_cr, 1.05_cr), 1.05_cr);
  EXPECT_EQ(step_towards(0_cr, 5_cr), 0_cr);
}

TEST(Prices, OneBorrowerWhoWaitsForMuchRaisesThePriceByATenthAtMost) {
  Queue queue;
  EXPECT_EQ(queue.counted(100), 0);
  queue.add(AccountId(1), 1'000'000);
  EXPECT_EQ(queue.counted(100), 10);
  queue.add(AccountId(2), 30);
  queue.add(AccountId(3), 20);
  EXPECT_EQ(queue.counted(100), 100);  // As much as the others want, and what they want.
  const auto before = suggested_price({}, 1_cr, {70, 30, 0}, kNoon, kNoon);
  Queue alone;
  alone.add(AccountId(1), 1'000'000);
  EXPECT_LE(suggested_price({}, 1_cr, {70, 30, alone.counted(100)}, kNoon, kNoon).micro,
            before.micro * 11 / 10);
}

}  // namespace
}  // namespace souk::market
