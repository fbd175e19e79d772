#include "server/routes/long_poll.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace souk::server {
namespace {

constexpr auto kLongestWait = base::seconds(60);

}  // namespace

base::Result<base::Duration> wait_of(const net::Request& http, base::Duration otherwise) {
  const auto text = http.param("wait");
  if (!text) return otherwise;
  SOUK_ASSIGN(const auto wait, base::parse_duration(*text));
  return std::min(wait, kLongestWait);
}

base::Result<std::uint64_t> seen_of(const net::Request& http, std::string_view name) {
  auto text = http.param(name).value_or("");
  if (text.empty() && name == "after") text = http.header("Last-Event-ID");
  std::uint64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (text.empty() || (error == std::errc{} && end == text.data() + text.size())) return v;
  return base::fail(base::Code::invalid, fmt::format("'{}' is '{}'", name, text.substr(0, 40)),
                    "use a whole number", std::string(name));
}

}  // namespace souk::server
