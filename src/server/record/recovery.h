#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "journal/journal.h"
#include "market/state.h"
#include "server/core/server.h"

// What a server begins with: the journal of its data folder, and the state that it leads to.

namespace souk::server {

[[nodiscard]] std::string journal_url(const Options& o);
// Nothing survives of such a market: not its journal, so nothing else either.
[[nodiscard]] bool in_memory(const Options& o);
[[nodiscard]] std::string snapshot_path(const std::string& data);

struct Recovered {
  std::unique_ptr<journal::Journal> journal;
  market::State state;
  std::uint64_t snapshot_events = 0;  // That the snapshot on disk holds.
};

// From the snapshot, if there is a good one, else from the journal's base; and the events after it.
[[nodiscard]] base::Result<Recovered> recover(const Options& o);

// The state to begin with: that of the snapshot at `path` if it is a good one and the journal has
// the events after it, else the journal's base. Damaged where the snapshot knows more than the
// journal.
[[nodiscard]] base::Result<market::State> nearest_state(const std::string& path,
                                                        journal::Journal& journal);

// Applies the events that the journal has after those of `state`. `go_on` is asked after each
// batch, and its error ends it.
[[nodiscard]] base::Result<> catch_up(market::State& state, journal::Journal& journal,
                                      const std::function<base::Result<>()>& go_on = {});

// Applies the events of one batch, but for those that `state` has already.
[[nodiscard]] base::Result<> apply_batch(market::State& state, const journal::Batch& batch);

}  // namespace souk::server
