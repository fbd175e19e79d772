#include "market/prices.h"

#include <gtest/gtest.h>

namespace souk::market {
namespace {

using namespace base::literals;
using base::hours;
using base::minutes;

constexpr Time kNoon{1'767'614'400'000'000};  // 2026-01-05T12:00:00Z.

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

TEST(Prices, TheAnchorPrefersTheSameTimeOfDay) {
  PriceHistory h;
  EXPECT_FALSE(h.anchor(12));
  h.traded(kNoon, 1_cr, 1);             // 12 o'clock
  h.traded(kNoon + hours(1), 2_cr, 3);  // 13
  h.traded(kNoon + hours(8), 9_cr, 4);  // 20
  EXPECT_EQ(h.anchor(12), 1.75_cr);     // 11, 12 and 13.
  EXPECT_EQ(h.anchor(14), 2_cr);
  EXPECT_EQ(h.anchor(20), 9_cr);
  EXPECT_EQ(h.anchor(4), Credits(5'375'000));  // Nothing near: all hours.
  h.traded(kNoon + hours(11), 4_cr, 1);        // 23 is next to 0.
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
      {{0, 0, 5}, 2_cr},       // Wanted, and none on offer.
  };
  for (const auto& row : rows)
    EXPECT_EQ(suggested_price({}, 1_cr, row.pressure, kNoon, kNoon), row.suggested)
        << row.pressure.leased << " " << row.pressure.free << " " << row.pressure.queued;
  PriceHistory short_jobs;
  for (int i = 0; i < 3; ++i) short_jobs.ran(minutes(30));  // The queue moves twice as fast.
  EXPECT_EQ(suggested_price(short_jobs, 1_cr, {50, 50, 50}, kNoon, kNoon), 1.05_cr);
  short_jobs.traded(kNoon, 4_cr, 2);  // What was paid counts more than the class's own price.
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

}  // namespace
}  // namespace souk::market
