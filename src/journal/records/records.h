#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

// What a market remembers beside its journal, in a database: rows of bytes that nothing is decided
// by. What a crash of the process leaves is whole; a power cut may cost the last seconds.

namespace souk::journal {

// A sort of rows. Those with a date lie in parts of a day each, and leave with their day; the
// others stay until they are removed.
struct RecordKind {
  std::string_view name;  // Of letters and '_': it names tables.
  bool dated = false;
};

struct Record {
  std::uint64_t id = 0;  // Below 2^63.
  base::Time at;         // Not of those without a date.
  std::string bytes;
  bool operator==(const Record&) const = default;
};

class Records {
 public:
  virtual ~Records() = default;

  // All of them or none. One with the kind, id and time of another replaces it.
  [[nodiscard]] virtual base::Result<> put(const RecordKind& kind,
                                           std::span<const Record> records) = 0;
  // Those of one id, from `from` to `to`, in order of time.
  [[nodiscard]] virtual base::Result<std::vector<Record>> of(const RecordKind& kind,
                                                             std::uint64_t id, base::Time from,
                                                             base::Time to) = 0;
  // At most so many, the newest first: by time, then by id.
  [[nodiscard]] virtual base::Result<std::vector<Record>> latest(const RecordKind& kind,
                                                                 std::size_t most) = 0;
  [[nodiscard]] virtual base::Result<> remove(const RecordKind& kind, std::uint64_t id) = 0;
  // Forgets the days that ended before `time`, of all dated kinds; how many parts went.
  [[nodiscard]] virtual base::Result<std::size_t> drop_before(base::Time time) = 0;
  [[nodiscard]] virtual base::Result<std::uint64_t> bytes() = 0;
};

// Opens or makes the records at `where`: sqlite:PATH. Safe to use from any thread; each call waits
// for the database. damaged: it is not what was written.
[[nodiscard]] base::Result<std::unique_ptr<Records>> open_records(const std::string& where);

// 20261118, of a time in UTC: the name of its part.
[[nodiscard]] std::int64_t day_of(base::Time time);

}  // namespace souk::journal
