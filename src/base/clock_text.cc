#include "base/clock_text.h"

#include <fmt/format.h>

#include <ctime>

namespace souk::base {
namespace {

std::tm local(Time t) {
  const auto seconds = static_cast<std::time_t>(t.us / 1'000'000);
  std::tm out{};
  ::localtime_r(&seconds, &out);
  return out;
}

}  // namespace

std::string clock_text(Time t, Time now) {
  const auto at = local(t), today = local(now);
  const auto hour = fmt::format("{:02}:{:02}", at.tm_hour, at.tm_min);
  if (at.tm_year == today.tm_year && at.tm_yday == today.tm_yday) return hour;
  return fmt::format("{}-{:02}-{:02} {}", 1900 + at.tm_year, at.tm_mon + 1, at.tm_mday, hour);
}

}  // namespace souk::base
