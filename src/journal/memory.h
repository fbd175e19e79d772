#pragma once

#include <deque>
#include <string>

#include "journal/journal.h"

namespace souk::journal {

// A journal that lasts as long as the process: for tests and the lab. Not thread-safe.
class MemoryJournal final : public Journal {
 public:
  [[nodiscard]] std::uint64_t next() const override { return next_; }
  [[nodiscard]] std::uint64_t first() const override { return first_; }
  [[nodiscard]] base::Result<> append(const Batch& batch) override;
  [[nodiscard]] base::Result<> replay(std::uint64_t from, const Visit& visit) override;
  [[nodiscard]] base::Result<std::string> base() override { return base_; }
  [[nodiscard]] base::Result<> save_base(std::uint64_t first, std::string_view bytes) override;
  [[nodiscard]] base::Result<> archive(const std::string& folder, std::uint64_t until,
                                       const Visit& also) override;
  [[nodiscard]] base::Result<> cut(std::uint64_t first, const base::Digest& base) override;
  [[nodiscard]] base::Result<bool> trim() override { return false; }  // A cut leaves nothing.

 private:
  struct OwnedBatch {
    std::uint64_t first;
    std::uint32_t count;
    std::string bytes;
  };
  std::deque<OwnedBatch> batches_;
  std::uint64_t first_ = 1, next_ = 1;
  std::string base_, saved_;     // The base in force, and the one saved last,
  std::uint64_t saved_for_ = 0;  // which belongs before this event.
};

}  // namespace souk::journal
