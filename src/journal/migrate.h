#pragma once

#include <cstdint>
#include <functional>

#include "journal/chain.h"

namespace souk::journal {

// What a copy found and did.
struct Migrated {
  std::uint64_t copied = 0;  // Events, now.
  std::uint64_t events = 0;  // That both end with.
};

// Makes `to` a copy of `from`, row by row with the same digests: its base, where it was cut, and
// every batch. `to` may be empty, or hold the beginning of the same history, as a copy leaves that
// was interrupted: then it goes on. Anything else is a conflict, and changes nothing. `progress`
// hears how many events of how many are there.
[[nodiscard]] base::Result<Migrated> migrate(
    ChainedJournal& from, ChainedJournal& to,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = {});

}  // namespace souk::journal
