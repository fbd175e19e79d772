#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "journal/journal.h"
#include "market/state.h"
#include "server/core/server.h"

// What a server begins with: the journal of its data folder, and the state that it leads to.

namespace souk::server {

[[nodiscard]] std::string journal_path(const std::string& data);
[[nodiscard]] std::string snapshot_path(const std::string& data);

struct Recovered {
  std::unique_ptr<journal::Journal> journal;
  market::State state;
  std::uint64_t snapshot_events = 0;  // That the snapshot on disk holds.
};

// From the snapshot, if there is a good one, and the events after it.
[[nodiscard]] base::Result<Recovered> recover(const Options& o);

}  // namespace souk::server
