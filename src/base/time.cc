#include "base/time.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

namespace souk::base {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t us;
};
constexpr std::array kUnits{Unit{"d", days(1).us},    Unit{"h", hours(1).us},
                            Unit{"m", minutes(1).us}, Unit{"s", seconds(1).us},
                            Unit{"ms", 1000},         Unit{"us", 1}};

Failure bad_duration(std::string_view text) {
  return fail(Code::invalid, fmt::format("'{}' is not a length of time", text),
              "write for example 90s, 30m, 1.5h or 2d12h (at most 10 years)");
}

Failure bad_time(std::string_view text) {
  return fail(Code::invalid, fmt::format("'{}' is not a point in time", text),
              "write it as 2027-03-01T22:00:00Z or with an offset like +01:00");
}

// Reads exactly `digits` digits at `at`, then expects `next` (unless it is 0).
bool read_number(std::string_view text, std::size_t& at, int digits, char next, int& out) {
  if (at + digits > text.size()) return false;
  const char* begin = text.data() + at;
  const auto [end, error] = std::from_chars(begin, begin + digits, out);
  if (error != std::errc{} || end != begin + digits || *begin == '-') return false;
  at += digits;
  if (next == 0) return true;
  return at < text.size() && text[at++] == next;
}

}  // namespace

Duration as_duration(double seconds) { return Duration(std::llround(seconds * 1e6)); }

std::string to_string(Duration d) {
  if (d.us == 0) return "0s";
  if (d.us < 0) return "-" + to_string(Duration(-d.us));
  std::string out;
  for (auto rest = d.us; const auto& unit : kUnits) {
    if (rest >= unit.us) out += fmt::format("{}{}", rest / unit.us, unit.name);
    rest %= unit.us;
  }
  return out;
}

Result<Duration> parse_duration(std::string_view text) {
  double total = 0;
  std::size_t at = 0, next_unit = 0;
  while (at < text.size()) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number,
                                              std::chars_format::fixed);
    // Written so that "nan", which from_chars reads, is refused too.
    if (error != std::errc{} || !(number >= 0)) return bad_duration(text);
    at = end - text.data();
    const auto letters = text.substr(at).find_first_of("0123456789.");
    const auto name = text.substr(at, letters);
    while (next_unit < kUnits.size() && kUnits[next_unit].name != name) ++next_unit;
    if (next_unit == kUnits.size()) return bad_duration(text);
    total += number * static_cast<double>(kUnits[next_unit++].us);
    at += name.size();
  }
  if (text.empty() || total > static_cast<double>(days(3653).us)) return bad_duration(text);
  return Duration(std::llround(total));
}

std::string to_string(Time t) {
  using namespace std::chrono;
  const sys_time<std::chrono::microseconds> at{std::chrono::microseconds(t.us)};
  const auto day = floor<std::chrono::days>(at);
  const year_month_day date{day};
  const hh_mm_ss clock{at - day};
  auto out = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", int(date.year()),
                         unsigned(date.month()), unsigned(date.day()), clock.hours().count(),
                         clock.minutes().count(), clock.seconds().count());
  if (const auto fraction = clock.subseconds().count(); fraction != 0)
    out += fmt::format(".{:06}", fraction);
  return out + "Z";
}

Result<Time> parse_time(std::string_view text) {
  using namespace std::chrono;
  std::size_t at = 0;
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
  if (!read_number(text, at, 4, '-', y) || !read_number(text, at, 2, '-', mo) ||
      !read_number(text, at, 2, 'T', d) || !read_number(text, at, 2, ':', h) ||
      !read_number(text, at, 2, ':', mi) || !read_number(text, at, 2, 0, s))
    return bad_time(text);
  const year_month_day date{year(y), month(mo), day(d)};
  if (!date.ok() || y < 1970 || y > 2200 || h > 23 || mi > 59 || s > 59) return bad_time(text);
  std::int64_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    std::int64_t scale = 100'000;
    const auto first = ++at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10)
      fraction += (text[at] - '0') * scale;
    if (at == first) return bad_time(text);
  }
  std::int64_t offset_minutes = 0;
  if (text.substr(at) != "Z") {
    if (at >= text.size() || (text[at] != '+' && text[at] != '-')) return bad_time(text);
    const int sign = text[at++] == '-' ? -1 : 1;
    int oh = 0, om = 0;
    if (!read_number(text, at, 2, ':', oh) || !read_number(text, at, 2, 0, om) || oh > 23 ||
        om > 59 || at != text.size())
      return bad_time(text);
    offset_minutes = sign * (oh * 60 + om);
  }
  const auto day_start = Time(sys_days(date).time_since_epoch().count() * base::days(1).us);
  const auto out = day_start + base::hours(h) + base::minutes(mi - offset_minutes) +
                   base::seconds(s) + Duration(fraction);
  // An offset can lead out of the years that are accepted, and written.
  constexpr Time end(sys_days(year(2201) / 1 / 1).time_since_epoch().count() * base::days(1).us);
  if (out < Time() || out >= end) return bad_time(text);
  return out;
}

}  // namespace souk::base
