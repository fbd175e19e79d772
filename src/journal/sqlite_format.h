#pragma once

#include <cstdint>
#include <limits>

#include "journal/chain.h"
#include "journal/database.h"
#include "journal/journal.h"

// What the files of SqliteJournal share of its format (sqlite.cc tells all of it).

namespace souk::journal {

inline constexpr std::int64_t kWholeFormat = 1;  // Begins with event 1; no table `cut`.
inline constexpr std::int64_t kCutFormat = 2;

// Of a row of (first, count, bytes, ...).
inline Batch batch_of(const Statement& row) {
  // A count that does not fit was not written by us; 0 is never right either.
  const auto count = row.integer(1);
  const bool fits = count > 0 && count <= std::numeric_limits<std::uint32_t>::max();
  return {static_cast<std::uint64_t>(row.integer(0)), fits ? static_cast<std::uint32_t>(count) : 0,
          row.bytes(2)};
}

// The tables of a whole journal, in a transaction that the caller began.
[[nodiscard]] base::Result<> make_tables(Database& db);

// The table that a journal has from its first cut on.
inline constexpr const char* kMakeCut =
    "CREATE TABLE IF NOT EXISTS cut(id INTEGER PRIMARY KEY, first INTEGER NOT NULL, "
    "chain BLOB NOT NULL, base BLOB NOT NULL)";

}  // namespace souk::journal
