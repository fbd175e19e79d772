#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "journal/journal.h"

// What was dropped of a journal and put aside: files of the journal's own format in one folder,
// each with the events between two cuts. Each can be opened as a journal too.

namespace souk::journal {

// Of the archive that begins with event `first`.
[[nodiscard]] std::string archive_path(const std::string& folder, std::uint64_t first);

// A SQLite journal together with the archives of what was dropped of it. Only reads.
class ArchivedJournal final : public History {
 public:
  // Opens the journal at `path` and finds its archives in `folder`. They may begin late; from there
  // on none may be missing, and each must join the next by its chain: else it is damaged.
  [[nodiscard]] static base::Result<OpenedHistory> open(const std::string& path,
                                                        const std::string& folder);

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
