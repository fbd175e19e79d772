#include "journal/memory.h"

#include <algorithm>

#include "base/check.h"
#include "journal/rules.h"

namespace souk::journal {

base::Result<> MemoryJournal::append(const Batch& batch) {
  SOUK_TRY(check_appendable(batch, next_));
  batches_.push_back({batch.first, batch.count, std::string(batch.bytes)});
  next_ = batch.end();
  return {};
}

base::Result<> MemoryJournal::replay(std::uint64_t from, const Visit& visit) {
  SOUK_TRY(check_kept(from, first_, "memory:"));
  auto it =
      std::ranges::upper_bound(batches_, from, {}, [](const OwnedBatch& s) { return s.first; });
  if (it != batches_.begin()) --it;  // The batch that begins at or before `from` may hold it.
  for (; it != batches_.end(); ++it) {
    const Batch batch{it->first, it->count, it->bytes};
    if (batch.end() > from) SOUK_TRY(visit(batch));
  }
  return {};
}

base::Result<> MemoryJournal::save_base(std::uint64_t first, std::string_view bytes) {
  saved_ = bytes;
  saved_for_ = first;
  return {};
}

base::Result<> MemoryJournal::archive(const std::string& folder, std::uint64_t, const Visit&) {
  return base::fail(base::Code::invalid,
                    "a journal in memory cannot be archived to '" + folder + "'",
                    "use a journal in a file: sqlite:PATH");
}

base::Result<> MemoryJournal::cut(std::uint64_t first, const base::Digest& base) {
  CHECK(first > first_ && first <= next_);
  CHECK(saved_for_ == first && base::blake2b(saved_) == base);
  const auto it = std::ranges::find(batches_, first, &OwnedBatch::first);
  if (it == batches_.end() && first != next_) return no_batch_begins(first);
  batches_.erase(batches_.begin(), it);
  first_ = first;
  base_ = std::move(saved_);
  return {};
}

}  // namespace souk::journal
