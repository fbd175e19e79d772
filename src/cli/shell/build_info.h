#pragma once

#include <string_view>

namespace souk::cli {

// What this program was made from and with. build_info.cmake writes it anew for each commit.
struct BuildInfo {
  std::string_view commit;  // Twelve digits, and "+" where files were changed; "" outside of git.
  std::string_view build;   // "Release, Clang 19.1.7, x86_64"
};
[[nodiscard]] BuildInfo build_info();

}  // namespace souk::cli
