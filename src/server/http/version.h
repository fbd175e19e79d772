#pragma once

#include <string_view>

namespace souk::server {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace souk::server
