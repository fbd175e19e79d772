#include "cli/values.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/clock.h"
#include "base/text.h"
#include "cli/terminal.h"

namespace souk::cli {
namespace {

using base::Code;

// What was typed, as it may stand in a message.
std::string quoted(std::string_view text) { return printable(text.substr(0, 80)); }

base::Failure bad(std::string_view text, std::string_view what, std::string hint) {
  return base::fail(Code::invalid, fmt::format("'{}' is not {}", quoted(text), what),
                    std::move(hint));
}

template <class T>
base::Result<> assign(base::Result<T> value, T& out) {
  if (!value) return std::unexpected(std::move(value).error());
  out = *std::move(value);
  return {};
}

}  // namespace

base::Failure not_a_number(std::string_view text) {
  return bad(text, "a whole number that fits", "for example 4");
}

base::Failure not_an_id(std::string_view text, std::string_view noun, std::string example) {
  return bad(text, fmt::format("the id of a {}", noun), fmt::format("for example {}", example));
}

base::Result<Memory> parse_memory(std::string_view text) {
  constexpr std::string_view kHint = "write for example 512M, 4G or 1.5T";
  double amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  auto unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc{} || unit.empty() || !std::isfinite(amount) || amount < 0)
    return bad(text, "an amount of memory", std::string(kHint));
  const char scale = unit[0];
  unit.remove_prefix(1);
  if (unit != "" && unit != "i" && unit != "iB" && unit != "B")
    return bad(text, "an amount of memory", std::string(kHint));
  const double mib = scale == 'K' || scale == 'k'   ? amount / 1024
                     : scale == 'M' || scale == 'm' ? amount
                     : scale == 'G' || scale == 'g' ? amount * 1024
                     : scale == 'T' || scale == 't' ? amount * 1024 * 1024
                                                    : -1;
  constexpr double kMost = 1 << 26;  // 64 TiB: what the market takes.
  if (mib < 0 || mib > kMost) return bad(text, "an amount of memory", std::string(kHint));
  return Memory{static_cast<std::int64_t>(std::ceil(mib))};
}

std::string to_string(Memory memory) {
  if (memory.mib >= 1024 && memory.mib % 1024 == 0) return fmt::format("{}G", memory.mib / 1024);
  if (memory.mib >= 10240) return fmt::format("{:.1f}G", static_cast<double>(memory.mib) / 1024);
  return fmt::format("{}M", memory.mib);
}

base::Result<wire::Workers> parse_workers(std::string_view text) {
  wire::Workers out;
  const auto dots = text.find("..");
  const auto low = base::trim(text.substr(0, dots));
  const auto high = dots == std::string_view::npos ? low : base::trim(text.substr(dots + 2));
  if (!read_value(low, out.min) || !read_value(high, out.max))
    return bad(text, "a number of workers", "write 2, or a range such as 1..4");
  if (out.min < 1 || out.max < out.min)
    return bad(text, "a number of workers", "write the least first, at least 1: for example 1..4");
  return out;
}

std::string to_string(const wire::Workers& workers) {
  return workers.min == workers.max ? std::to_string(workers.min)
                                    : fmt::format("{}..{}", workers.min, workers.max);
}

base::Result<base::Time> parse_when(std::string_view text, base::Time now) {
  if (const auto length = base::parse_duration(text)) return now + *length;
  if (const auto time = base::parse_time(text)) return *time;
  return bad(text, "a time", "write a length of time from now (3h) or 2027-03-01T22:00:00Z");
}

base::Result<wire::Held> parse_held(std::string_view text) {
  wire::Held out;
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || !read_value(text.substr(0, colon), out.lease) ||
      !read_value(text.substr(colon + 1), out.epoch))
    return bad(text, "a lease and its epoch", "for example l17:3, as `souk machine work` shows");
  return out;
}

base::Result<> read_value(std::string_view text, std::string& out) {
  out = text;
  return {};
}

base::Result<> read_value(std::string_view text, bool& out) {
  if (text != "true" && text != "false") return bad(text, "true or false", "write true or false");
  out = text == "true";
  return {};
}

base::Result<> read_value(std::string_view text, double& out) {
  double n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(n))
    return bad(text, "a number", "for example 0.9");
  out = n;
  return {};
}

base::Result<> read_value(std::string_view text, base::Credits& out) {
  return assign(base::parse_credits(text), out);
}

base::Result<> read_value(std::string_view text, base::Duration& out) {
  return assign(base::parse_duration(text), out);
}

base::Result<> read_value(std::string_view text, base::Time& out) {
  return assign(parse_when(text, base::SystemClock().now()), out);
}

base::Result<> read_value(std::string_view text, Memory& out) {
  return assign(parse_memory(text), out);
}

base::Result<> read_value(std::string_view text, wire::Workers& out) {
  return assign(parse_workers(text), out);
}

base::Result<> read_value(std::string_view text, AskPrice& out) {
  if (text == "market") return out.credits.reset(), base::Result<>{};
  auto price = base::parse_credits(text);
  if (!price) return bad(text, "a price", "write credits per slot-hour (0.5), or market");
  out.credits = *price;
  return {};
}

base::Result<> read_value(std::string_view text, wire::Held& out) {
  return assign(parse_held(text), out);
}

base::Result<> read_value(std::string_view text, Names& out) {
  if (text == "any") return out.items.clear(), base::Result<>{};
  for (const auto item : base::split(text, ','))
    if (!item.empty()) out.items.emplace_back(item);
  return {};
}

base::Result<std::pair<std::string, std::string>> split_pair(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return bad(text, "key=value", "for example term=2h");
  return std::pair(std::string(base::trim(text.substr(0, equals))),
                   std::string(base::trim(text.substr(equals + 1))));
}

base::Result<> read_value(std::string_view text, std::map<std::string, std::string>& out) {
  SOUK_ASSIGN(auto pair, split_pair(text));
  out[std::move(pair.first)] = std::move(pair.second);
  return {};
}

}  // namespace souk::cli
