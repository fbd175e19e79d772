#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace souk::base {

inline constexpr std::size_t kFileMax = std::size_t{1} << 30;

// A whole file of at most kFileMax bytes. Errors name it and say why; the hint is the caller's, for
// when there is no such file or it may not be read.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::string hint);

}  // namespace souk::base
