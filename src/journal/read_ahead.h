#pragma once

#include <cstdint>

#include "journal/journal.h"

namespace souk::journal {

// As history.replay(from, visit), with reading and checking on a thread of its own: it goes on
// while `visit` makes use of what was read, and stays a few batches ahead at most. `visit` runs on
// the caller's thread. The history belongs to the other thread until this returns.
[[nodiscard]] base::Result<> replay_ahead(History& history, std::uint64_t from,
                                          const History::Visit& visit);

}  // namespace souk::journal
