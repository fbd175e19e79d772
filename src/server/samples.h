#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "wire/prepare.h"

namespace souk::server {

// The job files of examples/, as they were when this program was built: names and texts
// (samples.cmake).
[[nodiscard]] std::span<const std::pair<std::string_view, std::string_view>> example_files();

// Those of them that a server can prepare as they are: they need no files of anybody's. A file
// begins with a comment, whose first line is the title and the rest the description.
[[nodiscard]] const wire::Samples& samples();

}  // namespace souk::server
