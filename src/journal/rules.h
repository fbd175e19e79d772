#pragma once

#include "journal/journal.h"

namespace souk::journal {

// What every implementation of append() demands. A wrong number is a bug of the caller and ends the
// process; a batch that is too large is an error.
[[nodiscard]] base::Result<> check_appendable(const Batch& batch, std::uint64_t next);

// What every replay() demands of its first event; `name` is the journal's, for people.
[[nodiscard]] base::Result<> check_kept(std::uint64_t from, std::uint64_t first,
                                        std::string_view name);

// cut() was asked to cut inside a batch.
[[nodiscard]] base::Failure no_batch_begins(std::uint64_t event);

}  // namespace souk::journal
