#include "train/units/fetch_ahead.h"

#include <gtest/gtest.h>

namespace souk::train {
namespace {

using base::milliseconds;
using base::seconds;
using base::Time;

const Time kNow = Time() + base::hours(1);

FetchAhead after(base::Duration step, base::Duration sending, base::Duration fetching) {
  FetchAhead ahead;
  ahead.computed(10, step * 10);
  ahead.handed_in(sending);
  ahead.fetched(fetching);
  return ahead;
}

TEST(FetchAhead, TheFirstUnitsAreFetchedAtOnce) {
  FetchAhead ahead;
  EXPECT_EQ(ahead.ask_at(kNow, 10), kNow);
  ahead.computed(10, seconds(10));
  ahead.fetched(milliseconds(1));
  EXPECT_EQ(ahead.ask_at(kNow, 10), kNow) << "nothing was sent yet";
}

TEST(FetchAhead, AFastLineFetchesWhatContainsTheWorkersOwnUpdate) {
  const auto ahead = after(milliseconds(50), milliseconds(5), milliseconds(5));
  EXPECT_EQ(ahead.ask_at(kNow, 8), base::kNever) << "10 ms of 400";
  EXPECT_EQ(ahead.ask_at(kNow, 4), kNow + milliseconds(190) - base::microseconds(7'500))
      << "10 ms of 200 would be idle";
}

TEST(FetchAhead, ASlowLineFetchesAsLateAsItCan) {
  const auto ahead = after(milliseconds(100), milliseconds(300), milliseconds(200));
  EXPECT_EQ(ahead.ask_at(kNow, 10), kNow + seconds(1) - milliseconds(300) - milliseconds(10));
  EXPECT_EQ(ahead.ask_at(kNow, 2), kNow) << "it takes longer than the unit";
}

TEST(FetchAhead, WhatTookLongerIsBelievedAtOnceAndWhatTookLessSlowly) {
  auto ahead = after(milliseconds(100), milliseconds(300), milliseconds(200));
  ahead.fetched(milliseconds(400));
  EXPECT_EQ(ahead.ask_at(kNow, 10), kNow + seconds(1) - milliseconds(600) - milliseconds(10));
  ahead.fetched(milliseconds(200));
  EXPECT_EQ(ahead.ask_at(kNow, 10), kNow + seconds(1) - milliseconds(525) - milliseconds(10));
  ahead.computed(10, milliseconds(900));
  EXPECT_EQ(ahead.ask_at(kNow, 10), kNow + milliseconds(900) - milliseconds(525) - milliseconds(10))
      << "a unit that may end sooner";
}

TEST(FetchAhead, AUnitWithoutStepsSaysNothingOfPace) {
  auto ahead = after(milliseconds(100), milliseconds(300), milliseconds(200));
  ahead.computed(0, seconds(100));
  EXPECT_EQ(ahead.ask_at(kNow, 10), kNow + seconds(1) - milliseconds(310));
}

}  // namespace
}  // namespace souk::train
