#include "base/clock_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace souk::base {
namespace {

TEST(ClockText, AMomentOfTodayIsAnHourAndAnotherDayIsNamed) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  const auto now = *parse_time("2026-11-20T14:05:30Z");
  EXPECT_EQ(clock_text(*parse_time("2026-11-20T14:02:59Z"), now), "14:02");
  EXPECT_EQ(clock_text(*parse_time("2026-11-19T23:59:00Z"), now), "2026-11-19 23:59");
  EXPECT_EQ(clock_text(*parse_time("2027-11-20T14:05:30Z"), now), "2027-11-20 14:05");
}

}  // namespace
}  // namespace souk::base
