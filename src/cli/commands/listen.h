#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace souk::cli {

// Where a server listens: "127.0.0.1:7070", "[::1]:7070", ":7070" for all addresses.
struct Listen {
  std::string address;
  std::uint16_t port = 0;
};
base::Result<> read_value(std::string_view text, Listen& out);
std::string to_string(const Listen& listen);

}  // namespace souk::cli
