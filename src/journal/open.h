#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "journal/chain.h"
#include "journal/journal.h"

// Where journals are kept. A backend is its files and one row in the table of open.cc; nobody else
// names one.

namespace souk::journal {

struct OpenOptions {
  // Look without touching, also beside a running writer, whose journal is seen as of the moment of
  // opening. Needs a journal that is there.
  bool read_only = false;
};

// Opens the journal at `where`, or makes an empty one unless read-only:
//   sqlite:PATH     in one file (sqlite.h), or in the folder of a market
//   postgres://...  in a database, as libpq reads it (postgres/postgres_journal.h); also spelt
//                   postgresql://
//   memory:         for as long as it is open (memory.h)
// Without a scheme it is a path: of the folder of a market, or of a SQLite file. Errors:
//   invalid      an unknown scheme, or not a journal
//   conflict     another process writes to it
//   not_found    read-only, and there is none
//   damaged      not only its end is unreadable
//   unavailable  the database does not answer
[[nodiscard]] base::Result<Opened> open(const std::string& where, const OpenOptions& options = {});

// Opens the journal at `where` read-only, together with the archives in the folder `archive`
// (archive.h). Errors are those of open(), and damaged where they do not join.
[[nodiscard]] base::Result<OpenedHistory> open_archived(const std::string& where,
                                                        const std::string& archive);

// The same for a journal that can be copied (migrate.h); invalid for one in memory.
[[nodiscard]] base::Result<std::unique_ptr<ChainedJournal>> open_chained(
    const std::string& where, const OpenOptions& options = {});

// Who finds again what was written there: this process alone, others on this computer, or servers
// anywhere, several of which may write in turn. An error where open() would not know the scheme.
enum class Reach { process, computer, servers };
[[nodiscard]] base::Result<Reach> reach_of(const std::string& where);

// What the journal at `where` takes on disk, with its log and its base; 0 where nothing is known.
// Any thread, also beside a writer. Of a database it asks the database, which may take a while.
[[nodiscard]] std::uint64_t bytes_on_disk(const std::string& where);

// The URL of the journal that a market keeps in its own folder.
[[nodiscard]] std::string url_in(const std::string& folder);

}  // namespace souk::journal
