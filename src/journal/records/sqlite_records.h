#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "journal/database.h"
#include "journal/records/records.h"

namespace souk::journal {

// Records in one SQLite file: a table for each kind, of dated ones for each day, "usage_20261118".
// A day that is dropped is a table that is dropped, and the file shrinks by it.
class SqliteRecords final : public Records {
 public:
  [[nodiscard]] static base::Result<std::unique_ptr<Records>> open(const std::string& path);

  base::Result<> put(const RecordKind& kind, std::span<const Record> records) override;
  base::Result<std::vector<Record>> of(const RecordKind& kind, std::uint64_t id, base::Time from,
                                       base::Time to) override;
  base::Result<std::vector<Record>> latest(const RecordKind& kind, std::size_t most) override;
  base::Result<> remove(const RecordKind& kind, std::uint64_t id) override;
  base::Result<std::size_t> drop_before(base::Time time) override;
  base::Result<std::uint64_t> bytes() override;

 private:
  explicit SqliteRecords(Database db) : db_(std::move(db)) {}
  // These require mutex_.
  base::Result<> load_tables();
  base::Result<> write(const RecordKind& kind, std::span<const Record> records);
  base::Result<std::string> table_for(const RecordKind& kind, base::Time at);
  // Of that kind, from one day to another, oldest first.
  [[nodiscard]] std::vector<std::string> tables_of(const RecordKind& kind, std::int64_t from,
                                                   std::int64_t to) const;

  std::mutex mutex_;
  Database db_;
  std::map<std::string, std::int64_t> tables_;  // And their days; 0 without.
};

}  // namespace souk::journal
