#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "journal/journal.h"

namespace souk::journal {

// What keys the first row of all.
[[nodiscard]] const base::Digest& root();

// Where a pass over the rows stands: the number the next row must have, and the digest of the row
// before it, which keys the next one's.
struct Cursor {
  std::uint64_t next = 1;
  base::Digest key = root();
};

// The digest of a row, keyed with that of the row before (sqlite.cc says of what). Not thread-safe:
// it keeps what it hashes, to save an allocation per row.
class Link {
 public:
  [[nodiscard]] base::Digest operator()(const Batch& batch, const base::Digest& key);

 private:
  std::string scratch_;
};

// A digest as the bytes that a database keeps, and back.
[[nodiscard]] std::string_view view(const base::Digest& d);
[[nodiscard]] base::Digest to_digest(std::string_view bytes);

// A journal with a chain of digests over its rows: two that have the same digest at an event hold
// the same events before it.
class ChainedJournal : public Journal {
 public:
  // The chain of the row that ends just before `event`; not_found if none does.
  [[nodiscard]] virtual base::Result<base::Digest> chain_before(std::uint64_t event) = 0;

  // For copies (migrate.h). Of a journal that never held anything: it begins like another that was
  // cut, at `start`, with the state `base` before it.
  [[nodiscard]] virtual base::Result<> begin_at(const Cursor& start, std::string_view base) = 0;
  // As append() for one after the other, but all become durable together or none.
  [[nodiscard]] virtual base::Result<> append_all(std::span<const Batch> batches) = 0;
};

}  // namespace souk::journal
