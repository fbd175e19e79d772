#pragma once

#include <filesystem>
#include <string>

#include "base/testing/source_tree.h"

namespace souk::lab::testing {

// The path of a published file, or "" where it is not on this machine: they are too large for the
// repository.
inline std::string shared_data(const std::string& name) {
  const auto path = base::source_tree() / "../shared/data" / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace souk::lab::testing
