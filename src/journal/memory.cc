#include "journal/memory.h"

#include <algorithm>

#include "journal/rules.h"

namespace souk::journal {

base::Result<> MemoryJournal::append(const Batch& batch) {
  SOUK_TRY(check_appendable(batch, next_));
  batches_.push_back({batch.first, batch.count, std::string(batch.bytes)});
  next_ = batch.end();
  return {};
}

base::Result<> MemoryJournal::replay(std::uint64_t from, const Visit& visit) {
  auto it =
      std::ranges::upper_bound(batches_, from, {}, [](const OwnedBatch& s) { return s.first; });
  if (it != batches_.begin()) --it;  // The batch that begins at or before `from` may hold it.
  for (; it != batches_.end(); ++it) {
    const Batch batch{it->first, it->count, it->bytes};
    if (batch.end() > from) SOUK_TRY(visit(batch));
  }
  return {};
}

}  // namespace souk::journal
