#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace souk::market {

using base::Duration;
using base::Result;
using base::Time;

// [from, until)
struct Interval {
  Time from;
  Time until = base::kNever;

  [[nodiscard]] bool contains(Time t) const { return from <= t && t < until; }
  bool operator==(const Interval&) const = default;
  SOUK_FIELDS(Interval, from, until)
};

// A window that recurs every week on the wall clock of an IANA time zone. It opens at `start` on
// each of `days`; when `end` <= `start` it closes on the following day.
struct WeeklyWindow {
  std::uint8_t days = 0;     // Bit 0 is Monday.
  std::int32_t start = 0;    // Minutes after local midnight, 0..1439.
  std::int32_t end = 0;      // 1..1440.
  std::string zone = "UTC";  // "America/Los_Angeles"

  bool operator==(const WeeklyWindow&) const = default;
  SOUK_FIELDS(WeeklyWindow, days, start, end, zone)
};

// "Mon,Wed 22:00-05:00 America/Los_Angeles", "Mon-Fri 18:00-24:00 Europe/Berlin", "daily
// 0:00-8:00". The zone may be left out (UTC). Unknown days and zones are errors that suggest the
// nearest.
Result<WeeklyWindow> parse_weekly(std::string_view text);
std::string to_string(const WeeklyWindow& w);

// When a machine may be used: always, during one interval, or in weekly windows. With both, the
// windows count only inside the interval.
struct Availability {
  std::optional<Interval> once;
  std::vector<WeeklyWindow> weekly;

  bool operator==(const Availability&) const = default;
  SOUK_FIELDS(Availability, once, weekly)
};

// The opening that contains `t`, or else the next one after it; nothing if there is none within
// two weeks. Windows that touch or overlap count as one opening. A wall-clock time that a
// daylight-saving change skips means the instant of the change; one that it repeats means the first
// occurrence for a start and the second for an end.
std::optional<Interval> opening(const Availability& a, Time t);

// One line for people: "always", "until 2027-...", "Mon 22:00-05:00 UTC; Sat ...".
std::string to_string(const Availability& a);

}  // namespace souk::market
