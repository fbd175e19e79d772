#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/shell/command.h"
#include "cli/shell/error.h"
#include "market/events.h"

namespace souk::cli {

// What a full replay of a journal found.
struct Verdict {
  std::uint64_t events = 0;  // Good ones, with those that were dropped behind the base.
  std::uint64_t first = 1;   // The oldest that was read.
  std::string state_hash;
  bool ok = false;
  std::vector<std::string> problems;  // What is wrong, naming the event. Empty when ok.
  std::string name;                   // Of the journal.
  std::string note;                   // A tail that a writer would cut; not damage by itself.
};

// Reads the journal at `where` (journal/open.h) without touching it, also beside a running server:
// the base that it begins with, every digest, every event, then the invariants of the state they
// make. With the folder `archive` what was dropped too: that it joins, and where it goes back to
// event 1 that it leads to the very base. An error only when there is no journal to read.
// `progress` hears which of how many events have been read.
Result<Verdict> verify_journal(
    const std::string& where,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = {},
    const std::string& archive = "");

Command migrate_command();  // souk journal migrate

}  // namespace souk::cli
