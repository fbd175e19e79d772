#pragma once

#include <string>
#include <vector>

#include "journal/journal.h"

namespace souk::journal {

// A journal that lasts as long as the process: for tests and the lab. Not thread-safe.
class MemoryJournal final : public Journal {
 public:
  [[nodiscard]] std::uint64_t next() const override { return next_; }
  [[nodiscard]] base::Result<> append(const Batch& batch) override;
  [[nodiscard]] base::Result<> replay(std::uint64_t from, const Visit& visit) override;

 private:
  struct OwnedBatch {
    std::uint64_t first;
    std::uint32_t count;
    std::string bytes;
  };
  std::vector<OwnedBatch> batches_;
  std::uint64_t next_ = 1;
};

}  // namespace souk::journal
