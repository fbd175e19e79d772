#include "server/http/context.h"

#include <fmt/format.h>

#include <charconv>

namespace souk::server {

using base::Code;
using base::fail;

base::Failure Context::no_such(std::string_view noun, std::string_view name) {
  return fail(Code::not_found, fmt::format("there is no {} '{}'", noun, name.substr(0, 80)));
}

Result<std::int64_t> Context::number(std::string_view name, std::int64_t otherwise,
                                     std::int64_t least, std::int64_t most) const {
  const auto text = query(name);
  if (text.empty()) return otherwise;
  std::int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error == std::errc{} && end == text.data() + text.size() && v >= least && v <= most) return v;
  return fail(Code::invalid, fmt::format("'{}' is '{}'", name, text.substr(0, 40)),
              fmt::format("use a whole number from {} to {}", least, most), std::string(name));
}

}  // namespace souk::server
