#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace souk::journal {

enum class WalState {
  nothing,     // No file, or nothing in it.
  clean,       // Ends with a whole transaction.
  unfinished,  // A transaction at the end was never completed, so never acknowledged.
  flipped,     // The last transaction is there but damaged, with none after it.
  damaged,     // A damaged transaction with a later whole one, or a damaged header.
};

struct WalReport {
  WalState state = WalState::nothing;
  std::string what;               // For people: what is wrong, and in which frame. Empty if clean.
  std::uint64_t good_frames = 0;  // Up to the end of the last whole transaction before any damage.
};

// Reads a SQLite write-ahead log that nobody has open and says whether SQLite, which silently ends
// its reading at the first bad frame, would lose anything by that. Changes nothing. An error only
// if the file cannot be read.
[[nodiscard]] base::Result<WalReport> check_wal(const std::string& path);

}  // namespace souk::journal
