#include "market/window.h"

#include <gtest/gtest.h>

namespace souk::market {
namespace {

Time at(std::string_view text) { return base::parse_time(text).value(); }

Availability weekly(std::initializer_list<std::string_view> windows) {
  Availability a;
  for (const auto w : windows) a.weekly.push_back(parse_weekly(w).value());
  return a;
}

// "2026-03-05T06:00:00Z 2026-03-05T13:00:00Z", or "never".
std::string opens(const Availability& a, std::string_view from) {
  const auto o = opening(a, at(from));
  return o ? base::to_string(o->from) + " " + base::to_string(o->until) : "never";
}

TEST(Window, WhatALenderTypesIsReadAsTheyMeantIt) {
  struct Row {
    const char* text;
    WeeklyWindow meant;
    const char* shown;
  };
  const Row rows[] = {
      {"Mon,Wed 22:00-05:00 America/Los_Angeles",
       {0b101, 1320, 300, "America/Los_Angeles"},
       "Mon,Wed 22:00-05:00 America/Los_Angeles"},
      {"Mon-Fri 18:00-24:00 Europe/Berlin",
       {0x1f, 1080, 1440, "Europe/Berlin"},
       "Mon,Tue,Wed,Thu,Fri 18:00-24:00 Europe/Berlin"},
      {"daily 0:00-8:00", {0x7f, 0, 480, "UTC"}, "daily 00:00-08:00 UTC"},
      {"Fri-Mon 09:30-17:45", {0x71, 570, 1065, "UTC"}, "Mon,Fri,Sat,Sun 09:30-17:45 UTC"},
      {"  Sun   22:00-00:00  ", {0x40, 1320, 1440, "UTC"}, "Sun 22:00-24:00 UTC"},
  };
  for (const auto& row : rows) {
    const auto read = parse_weekly(row.text);
    ASSERT_TRUE(read) << row.text << ": " << read.error().message;
    EXPECT_EQ(*read, row.meant) << row.text;
    EXPECT_EQ(to_string(*read), row.shown);
    EXPECT_EQ(parse_weekly(row.shown).value(), row.meant);
  }
}

TEST(Window, AMistypedWindowIsRefusedWithAHint) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "America/Los_Angeles"},
      {"Mon", "America/Los_Angeles"},
      {"Mno 1:00-2:00", "did you mean 'Mon'"},
      {"Mon,,Tue 1:00-2:00", "Mon"},
      {"Mon 10:00", "America/Los_Angeles"},
      {"Mon 24:00-08:00", "America/Los_Angeles"},
      {"Mon 10:00-24:01", "America/Los_Angeles"},
      {"Mon 10:60-11:00", "America/Los_Angeles"},
      {"Mon 1:5-2:00", "America/Los_Angeles"},
      {"Mon -1:00-2:00", "America/Los_Angeles"},
      {"Mon 10:00-11:00 Europe/Berln", "did you mean 'Europe/Berlin'"},
      {"Mon 10:00-11:00 Nowhere/At all", "IANA"},
  };
  for (const auto& [text, hint] : rows) {
    const auto read = parse_weekly(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, base::Code::invalid);
    EXPECT_NE(read.error().hint.find(hint), std::string::npos) << text << ": " << read.error().hint;
  }
}

// United States: 2026-03-08 and 2026-11-01, 2027-03-14 and 2027-11-07, at 02:00 local time.
TEST(Window, ANightWindowKeepsTheLendersWallClockThroughDaylightSaving) {
  const auto nights = weekly({"Mon,Wed 22:00-05:00 America/Los_Angeles"});
  const std::pair<const char*, const char*> rows[] = {
      {"2026-03-04T12:00:00Z", "2026-03-05T06:00:00Z 2026-03-05T13:00:00Z"},
      {"2026-03-08T12:00:00Z", "2026-03-10T05:00:00Z 2026-03-10T12:00:00Z"},
      {"2026-10-29T04:59:59Z", "2026-10-29T05:00:00Z 2026-10-29T12:00:00Z"},
      {"2026-10-29T11:59:59Z", "2026-10-29T05:00:00Z 2026-10-29T12:00:00Z"},
      {"2026-10-29T12:00:00Z", "2026-11-03T06:00:00Z 2026-11-03T13:00:00Z"},
      {"2027-03-10T12:00:00Z", "2027-03-11T06:00:00Z 2027-03-11T13:00:00Z"},
      {"2027-03-14T12:00:00Z", "2027-03-16T05:00:00Z 2027-03-16T12:00:00Z"},
      {"2027-11-04T00:00:00Z", "2027-11-04T05:00:00Z 2027-11-04T12:00:00Z"},
      {"2027-11-07T12:00:00Z", "2027-11-09T06:00:00Z 2027-11-09T13:00:00Z"},
  };
  for (const auto& [from, expected] : rows) EXPECT_EQ(opens(nights, from), expected) << from;
  // The night of the change itself is an hour shorter, or longer.
  const auto saturday = weekly({"Sat 22:00-05:00 America/Los_Angeles"});
  EXPECT_EQ(opens(saturday, "2026-03-08T00:00:00Z"), "2026-03-08T06:00:00Z 2026-03-08T12:00:00Z");
  EXPECT_EQ(opens(saturday, "2026-11-01T00:00:00Z"), "2026-11-01T05:00:00Z 2026-11-01T13:00:00Z");
}

// Germany: 2026-03-29 02:00 -> 03:00 (01:00Z), 2026-10-25 03:00 -> 02:00 (01:00Z).
TEST(Window, TimesThatTheClockSkipsOrRepeatsAreNeverLessThanTheLenderOffered) {
  const auto later = weekly({"Sun 02:30-04:00 Europe/Berlin"});
  const auto earlier = weekly({"Sun 01:00-02:30 Europe/Berlin"});
  const auto skipped = weekly({"Sun 02:15-02:45 Europe/Berlin"});
  EXPECT_EQ(opens(later, "2026-03-28T12:00:00Z"), "2026-03-29T01:00:00Z 2026-03-29T02:00:00Z");
  EXPECT_EQ(opens(earlier, "2026-03-28T12:00:00Z"), "2026-03-29T00:00:00Z 2026-03-29T01:00:00Z");
  EXPECT_EQ(opens(skipped, "2026-03-28T12:00:00Z"), "2026-04-05T00:15:00Z 2026-04-05T00:45:00Z");
  EXPECT_EQ(opens(later, "2026-10-24T12:00:00Z"), "2026-10-25T00:30:00Z 2026-10-25T03:00:00Z");
  EXPECT_EQ(opens(earlier, "2026-10-24T12:00:00Z"), "2026-10-24T23:00:00Z 2026-10-25T01:30:00Z");
}

// Lord Howe Island moves by half an hour: 2026-04-05 02:00 -> 01:30 (15:00Z the day before),
// 2026-10-04 02:00 -> 02:30 (15:30Z the day before).
TEST(Window, HalfHourDaylightSavingIsHonoured) {
  const auto autumn = weekly({"Sun 01:45-03:00 Australia/Lord_Howe"});
  const auto spring = weekly({"Sun 02:15-03:00 Australia/Lord_Howe"});
  EXPECT_EQ(opens(autumn, "2026-04-04T00:00:00Z"), "2026-04-04T14:45:00Z 2026-04-04T16:30:00Z");
  EXPECT_EQ(opens(spring, "2026-10-03T00:00:00Z"), "2026-10-03T15:30:00Z 2026-10-03T16:00:00Z");
}

TEST(Window, WindowsThatTouchOrOverlapAreOneSoALeaseNeedNotStopAtMidnight) {
  const auto touching = weekly({"Tue 00:00-03:00", "Mon 20:00-24:00"});
  EXPECT_EQ(opens(touching, "2026-01-05T21:00:00Z"), "2026-01-05T20:00:00Z 2026-01-06T03:00:00Z");
  EXPECT_EQ(opens(touching, "2026-01-06T02:00:00Z"), "2026-01-05T20:00:00Z 2026-01-06T03:00:00Z");
  EXPECT_EQ(opens(touching, "2026-01-06T03:00:00Z"), "2026-01-12T20:00:00Z 2026-01-13T03:00:00Z");
  const auto overlapping = weekly({"Mon 08:00-12:00", "Mon 10:00-18:00", "Mon 11:00-11:30"});
  EXPECT_EQ(opens(overlapping, "2026-01-05T00:00:00Z"),
            "2026-01-05T08:00:00Z 2026-01-05T18:00:00Z");
  const auto whole_day = weekly({"Mon 09:00-09:00"});
  EXPECT_EQ(opens(whole_day, "2026-01-05T10:00:00Z"), "2026-01-05T09:00:00Z 2026-01-06T09:00:00Z");
  const auto always = opening(weekly({"daily 00:00-24:00"}), at("2026-01-05T10:00:00Z"));
  ASSERT_TRUE(always);
  EXPECT_GE(always->until, at("2026-01-19T10:00:00Z"));
}

TEST(Window, AnOfferIsAvailableOnlyWhereItsDatesAndItsWeeklyWindowsMeet) {
  auto a = weekly({"daily 22:00-06:00"});
  a.once = Interval{at("2026-01-06T23:00:00Z"), at("2026-01-08T02:00:00Z")};
  EXPECT_EQ(opens(a, "2026-01-01T00:00:00Z"), "2026-01-06T23:00:00Z 2026-01-07T06:00:00Z");
  EXPECT_EQ(opens(a, "2026-01-07T12:00:00Z"), "2026-01-07T22:00:00Z 2026-01-08T02:00:00Z");
  EXPECT_EQ(opens(a, "2026-01-08T02:00:00Z"), "never");
  EXPECT_EQ(to_string(a),
            "from 2026-01-06T23:00:00Z; until 2026-01-08T02:00:00Z; daily 22:00-06:00 UTC");
  Availability dates;
  EXPECT_EQ(to_string(dates), "always");
  EXPECT_TRUE(opening(dates, at("2026-01-01T00:00:00Z"))->contains(at("2100-01-01T00:00:00Z")));
  dates.once = Interval{at("2026-01-06T00:00:00Z"), base::kNever};
  EXPECT_FALSE(opening(dates, at("2026-01-01T00:00:00Z"))->contains(at("2026-01-05T23:59:59Z")));
  dates.once->until = at("2026-01-07T00:00:00Z");
  EXPECT_EQ(opens(dates, "2026-01-06T12:00:00Z"), "2026-01-06T00:00:00Z 2026-01-07T00:00:00Z");
  EXPECT_EQ(opens(dates, "2026-01-07T00:00:00Z"), "never");
}

}  // namespace
}  // namespace souk::market
