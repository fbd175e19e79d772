#include "market/window.h"

#include <date/tz.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace souk::market {
namespace {

constexpr std::array<std::string_view, 7> kDays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::uint8_t kAllDays = 0x7f;
constexpr std::string_view kExample = "write for example 'Mon,Wed 22:00-05:00 America/Los_Angeles'";

base::Failure bad(std::string message, std::string hint) {
  return base::fail(base::Code::invalid, std::move(message), std::move(hint), "weekly");
}

Result<int> parse_day(std::string_view text) {
  for (std::size_t i = 0; i < kDays.size(); ++i)
    if (kDays[i] == text) return static_cast<int>(i);
  return bad(fmt::format("'{}' is not a day of the week", text), base::suggest(text, kDays));
}

Result<std::uint8_t> parse_days(std::string_view text) {
  if (text == "daily") return kAllDays;
  std::uint8_t days = 0;
  for (const auto part : base::split(text, ',')) {
    const auto dash = part.find('-');
    SOUK_ASSIGN(const int first, parse_day(part.substr(0, dash)));
    int last = first;
    if (dash != std::string_view::npos) {
      SOUK_ASSIGN(last, parse_day(part.substr(dash + 1)));
    }
    for (int d = first;; d = (d + 1) % 7) {
      days |= static_cast<std::uint8_t>(1 << d);
      if (d == last) break;
    }
  }
  return days;
}

// "22:00" -> 1320; up to 24:00.
std::optional<int> parse_clock(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || text.size() - colon != 3 || colon == 0 || colon > 2)
    return std::nullopt;
  int h = 0, m = 0;
  const auto read = [](std::string_view digits, int& out) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return error == std::errc{} && end == digits.data() + digits.size() && digits[0] != '-';
  };
  if (!read(text.substr(0, colon), h) || !read(text.substr(colon + 1), m) || m > 59) return {};
  const int minutes = h * 60 + m;
  return minutes <= 24 * 60 ? std::optional(minutes) : std::nullopt;
}

const date::time_zone* find_zone(const std::string& name) {
  try {
    return date::locate_zone(name);
  } catch (const std::runtime_error&) {
    return nullptr;
  }
}

std::string zone_hint(std::string_view name) {
  std::vector<std::string_view> names;
  try {
    for (const auto& zone : date::get_tzdb().zones) names.push_back(zone.name());
  } catch (const std::runtime_error&) {
    return "the time zone database is missing: install tzdata";
  }
  const auto near = base::nearest(name, names);
  return near.empty() ? "use an IANA name such as Europe/Berlin or UTC"
                      : fmt::format("did you mean '{}'?", near);
}

// The instant at which the wall clock of `zone` shows `day` + `minutes`.
Time instant(const date::time_zone* zone, date::local_days day, int minutes, bool is_start) {
  const auto local = day + std::chrono::minutes(minutes);
  const auto info = zone->get_info(local);
  using std::chrono::microseconds;
  const auto at = [](auto sys) {
    return Time(std::chrono::duration_cast<microseconds>(sys.time_since_epoch()).count());
  };
  const auto with_offset = [&](const date::sys_info& i) {
    return at(date::sys_seconds(local.time_since_epoch()) - i.offset);
  };
  if (info.result == date::local_info::nonexistent) return at(info.first.end);
  if (info.result == date::local_info::ambiguous && !is_start) return with_offset(info.second);
  return with_offset(info.first);
}

// All openings of `w` that start between two days before `t` and two weeks after it.
void add_openings(const WeeklyWindow& w, Time t, std::vector<Interval>& out) {
  const auto* zone = find_zone(w.zone);
  if (zone == nullptr) return;  // Validated when it was set; gone from the database since.
  const date::sys_seconds now{std::chrono::seconds(t.us / 1'000'000)};
  const auto today = date::floor<date::days>(zone->to_local(now));
  for (int d = -2; d <= 14; ++d) {
    const auto day = today + date::days(d);
    const unsigned index = date::weekday(day).iso_encoding() - 1;
    if ((w.days >> index & 1) == 0) continue;
    const auto last = w.end <= w.start ? day + date::days(1) : day;
    const Interval opening{instant(zone, day, w.start, true), instant(zone, last, w.end, false)};
    if (opening.from < opening.until) out.push_back(opening);
  }
}

}  // namespace

Result<WeeklyWindow> parse_weekly(std::string_view text) {
  const auto trimmed = base::trim(text);
  const auto space = trimmed.find(' ');
  if (space == std::string_view::npos)
    return bad(fmt::format("'{}' is not a weekly window", text), std::string(kExample));
  WeeklyWindow w;
  SOUK_ASSIGN(w.days, parse_days(trimmed.substr(0, space)));
  const auto rest = base::trim(trimmed.substr(space + 1));
  const auto gap = std::min(rest.find(' '), rest.size());
  const auto clock = rest.substr(0, gap);
  const auto dash = clock.find('-');
  const auto start = parse_clock(clock.substr(0, dash));
  const auto end =
      dash == std::string_view::npos ? std::nullopt : parse_clock(clock.substr(dash + 1));
  if (!start || !end || *start == 24 * 60)
    return bad(fmt::format("'{}' is not a range of hours", clock), std::string(kExample));
  w.start = *start;
  w.end = *end == 0 ? 24 * 60 : *end;
  if (const auto zone = base::trim(rest.substr(gap)); !zone.empty()) w.zone = zone;
  if (find_zone(w.zone) == nullptr)
    return bad(fmt::format("'{}' is not a time zone", w.zone), zone_hint(w.zone));
  return w;
}

std::string to_string(const WeeklyWindow& w) {
  std::vector<std::string> days;
  for (std::size_t i = 0; i < kDays.size(); ++i)
    if (w.days >> i & 1) days.emplace_back(kDays[i]);
  return fmt::format("{} {:02}:{:02}-{:02}:{:02} {}",
                     w.days == kAllDays ? "daily" : base::join(days, ","), w.start / 60,
                     w.start % 60, w.end / 60, w.end % 60, w.zone);
}

std::optional<Interval> opening(const Availability& a, Time t) {
  const Interval bounds = a.once.value_or(Interval{Time(), base::kNever});
  if (bounds.until <= t) return std::nullopt;
  if (a.weekly.empty()) return bounds;
  const Time start = std::max(t, bounds.from);
  std::vector<Interval> openings;
  for (const auto& w : a.weekly) add_openings(w, start, openings);
  std::ranges::sort(openings, {}, [](const Interval& i) { return std::pair(i.from, i.until); });
  std::optional<Interval> first;
  for (const auto& o : openings) {
    if (first && o.from <= first->until) {
      first->until = std::max(first->until, o.until);
    } else if (!first || first->until <= start) {
      first = o;
    } else {
      break;
    }
  }
  if (!first || first->until <= start || first->from >= bounds.until) return std::nullopt;
  return Interval{std::max(first->from, bounds.from), std::min(first->until, bounds.until)};
}

std::string to_string(const Availability& a) {
  std::vector<std::string> parts;
  if (a.once && a.once->from > Time()) parts.push_back("from " + base::to_string(a.once->from));
  if (a.once && a.once->until < base::kNever)
    parts.push_back("until " + base::to_string(a.once->until));
  for (const auto& w : a.weekly) parts.push_back(to_string(w));
  return parts.empty() ? "always" : base::join(parts, "; ");
}

}  // namespace souk::market
