#include "cli/shell/values.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/clock.h"
#include "base/text.h"

namespace souk::cli {
namespace {

using wire::is_not;

template <class T>
base::Result<> assign(base::Result<T> value, T& out) {
  if (!value) return std::unexpected(std::move(value).error());
  out = *std::move(value);
  return {};
}

}  // namespace

base::Failure not_an_id(std::string_view text, std::string_view noun, std::string example) {
  return is_not(text, fmt::format("the id of a {}", noun), fmt::format("for example {}", example));
}

base::Result<wire::LeaseReport> parse_held(std::string_view text) {
  wire::LeaseReport out;
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || !read_value(text.substr(0, colon), out.lease) ||
      !read_value(text.substr(colon + 1), out.epoch))
    return is_not(text, "a lease and its epoch", "for example l17:3, as `souk machine work` shows");
  return out;
}

base::Result<> read_value(std::string_view text, std::string& out) {
  out = text;
  return {};
}

base::Result<> read_value(std::string_view text, bool& out) {
  if (text != "true" && text != "false")
    return is_not(text, "true or false", "write true or false");
  out = text == "true";
  return {};
}

base::Result<> read_value(std::string_view text, double& out) {
  double n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(n))
    return is_not(text, "a number", "for example 0.9");
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
  return assign(wire::parse_when(text, base::SystemClock().now()), out);
}

base::Result<> read_value(std::string_view text, Memory& out) {
  return assign(wire::parse_memory(text), out);
}

base::Result<> read_value(std::string_view text, wire::Workers& out) {
  return assign(wire::parse_workers(text), out);
}

base::Result<> read_value(std::string_view text, AskPrice& out) {
  if (text == "market") return out.credits.reset(), base::Result<>{};
  auto price = base::parse_credits(text);
  if (!price) return is_not(text, "a price", "write credits per slot-hour (0.5), or market");
  out.credits = *price;
  return {};
}

base::Result<> read_value(std::string_view text, wire::LeaseReport& out) {
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
    return is_not(text, "key=value", "for example term=2h");
  return std::pair(std::string(base::trim(text.substr(0, equals))),
                   std::string(base::trim(text.substr(equals + 1))));
}

base::Result<> read_value(std::string_view text, std::map<std::string, std::string>& out) {
  SOUK_ASSIGN(auto pair, split_pair(text));
  out[std::move(pair.first)] = std::move(pair.second);
  return {};
}

}  // namespace souk::cli
