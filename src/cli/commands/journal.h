#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/shell/error.h"
#include "market/events.h"

namespace souk::cli {

// What a full replay of a journal found.
struct Verdict {
  std::uint64_t events = 0;  // Good ones.
  std::string state_hash;
  bool ok = false;
  std::vector<std::string> problems;  // What is wrong, naming the event. Empty when ok.
  std::string name;                   // Of the journal.
  std::string note;                   // A tail that a writer would cut; not damage by itself.
};

// Reads the journal at `where` (journal/open.h) without touching it, also beside a running server:
// every digest, every event, then the invariants of the state they make. An error only when there
// is no journal to read. `progress` hears how many of how many events have been read.
Result<Verdict> verify_journal(
    const std::string& where,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = {});

}  // namespace souk::cli
