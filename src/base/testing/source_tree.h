#pragma once

#include <filesystem>

namespace souk::base {

// The root of the sources of the program that runs, which lies in build/PRESET/bin. (__FILE__ would
// not do: a compilation that clones share names no folder.)
inline std::filesystem::path source_tree() {
  return std::filesystem::canonical("/proc/self/exe").parent_path() / "../../..";
}

}  // namespace souk::base
