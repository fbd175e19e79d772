#include "cli/commands/listen.h"

#include <fmt/format.h>

#include "cli/shell/error.h"
#include "cli/shell/terminal.h"
#include "cli/shell/values.h"

namespace souk::cli {

base::Result<> read_value(std::string_view text, Listen& out) {
  const auto colon = text.rfind(':');
  std::uint16_t port = 0;
  if (colon == text.npos || !read_value(text.substr(colon + 1), port))
    return usage(fmt::format("'{}' is not an address and a port", printable(text)),
                 "for example 127.0.0.1:7070 or [::]:7070");
  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  out = {std::string(host.empty() ? "0.0.0.0" : host), port};
  return {};
}

std::string to_string(const Listen& listen) {
  const bool v6 = listen.address.contains(':');
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", listen.address, v6 ? "]" : "", listen.port);
}

}  // namespace souk::cli
