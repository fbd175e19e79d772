#pragma once

#include "wire/api/prepare.h"

namespace souk::server {

// The job files of examples/ that a server can prepare as they are: they need no files of
// anybody's. A file begins with a comment, whose first line is the title and the rest the
// description.
[[nodiscard]] const wire::Samples& samples();

}  // namespace souk::server
