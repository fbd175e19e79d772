#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"

namespace souk::base {

// A length of time in microseconds.
struct Duration {
  std::int64_t us = 0;

  constexpr Duration() = default;
  constexpr explicit Duration(std::int64_t microseconds) : us(microseconds) {}
  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration d) const { return Duration(us + d.us); }
  constexpr Duration operator-(Duration d) const { return Duration(us - d.us); }
  constexpr Duration operator*(std::int64_t n) const { return Duration(us * n); }
  constexpr Duration operator/(std::int64_t n) const { return Duration(us / n); }
  constexpr double seconds() const { return static_cast<double>(us) / 1e6; }
};

Duration as_duration(double seconds);  // The nearest.

constexpr Duration microseconds(std::int64_t n) { return Duration(n); }
constexpr Duration milliseconds(std::int64_t n) { return Duration(n * 1'000); }
constexpr Duration seconds(std::int64_t n) { return Duration(n * 1'000'000); }
constexpr Duration minutes(std::int64_t n) { return seconds(n * 60); }
constexpr Duration hours(std::int64_t n) { return minutes(n * 60); }
constexpr Duration days(std::int64_t n) { return hours(n * 24); }
// For rates and forecasts, which are fractions.
inline constexpr double kSecondsPerHour = 3'600;

// A point in time: microseconds since 1970-01-01T00:00:00Z.
struct Time {
  std::int64_t us = 0;

  constexpr Time() = default;
  constexpr explicit Time(std::int64_t microseconds) : us(microseconds) {}
  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time operator+(Duration d) const { return Time(us + d.us); }
  constexpr Time operator-(Duration d) const { return Time(us - d.us); }
  constexpr Duration operator-(Time t) const { return Duration(us - t.us); }
};

inline constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};

// "1d2h3m4s", each part optional, down to ms and us: exact, and read back by parse_duration.
std::string to_string(Duration d);
// Accepts parts as above, largest first, up to 10 years; "90m" and "1.5h" too.
Result<Duration> parse_duration(std::string_view text);

// RFC 3339 in UTC, with a fraction only when there is one.
std::string to_string(Time t);
// Accepts RFC 3339 with Z or an offset, years 1970 to 2200.
Result<Time> parse_time(std::string_view text);

}  // namespace souk::base
