#pragma once

#include "journal/journal.h"

namespace souk::journal {

// What every implementation of append() demands. A wrong number is a bug of the caller and ends the
// process; a batch that is too large is an error.
[[nodiscard]] base::Result<> check_appendable(const Batch& batch, std::uint64_t next);

}  // namespace souk::journal
