#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "journal/chain.h"
#include "journal/journal.h"

// What was dropped of a journal and put aside: files of SqliteJournal's format in one folder, each
// with the events between two cuts. Each can be opened as a journal too.

namespace souk::journal {

// Of the archive that begins with event `first`.
[[nodiscard]] std::string archive_path(const std::string& folder, std::uint64_t first);

// Which rows an archive is made of.
struct ArchivedRows {
  Cursor start;       // Before the first.
  base::Digest base;  // Of the state there; without meaning for event 1.
  Cursor end;         // After the last.
};
// Calls the visitor for each of them.
using ReadRows = std::function<base::Result<>(const History::Visit&)>;

// Copies rows of a journal to an archive in `folder`: what Journal::archive() promises.
[[nodiscard]] base::Result<> write_archive(const std::string& folder, const ArchivedRows& rows,
                                           const ReadRows& read, const History::Visit& also);

// A journal together with the archives of what was dropped of it. Only reads.
class ArchivedJournal final : public History {
 public:
  // Finds the archives of `opened`, which has a chain and is read-only, in `folder`. They may begin
  // late; from there on none may be missing, and each must join the next by its chain: else it is
  // damaged.
  [[nodiscard]] static base::Result<OpenedHistory> open(Opened opened, const std::string& folder);

  [[nodiscard]] std::uint64_t next() const override { return journal_->next(); }
  [[nodiscard]] std::uint64_t first() const override;
  [[nodiscard]] base::Result<> replay(std::uint64_t from, const Visit& visit) override;

 private:
  // One of the archives. The events from `until` on are in the next one, or in the journal.
  struct Part {
    std::string path;
    std::uint64_t first = 0, until = 0;
  };
  ArchivedJournal(std::unique_ptr<Journal> journal, std::vector<Part> parts)
      : journal_(std::move(journal)), parts_(std::move(parts)) {}

  std::unique_ptr<Journal> journal_;
  std::vector<Part> parts_;  // Oldest first.
};

}  // namespace souk::journal
