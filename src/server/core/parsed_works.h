#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "base/id.h"
#include "market/state.h"
#include "wire/api/batch.h"

namespace souk::server {

// The work of jobs, each parsed once: the market keeps it as text, and every lease, round and view
// needs it. Filled at first use, which for most is the submission. Bounded by the bytes of text
// behind it: what was used longest ago goes, and is parsed again when it is needed. Core thread
// only; what it gives out is never changed and may go anywhere.
class ParsedWorks {
 public:
  static constexpr std::size_t kMostBytes = 64 << 20;
  explicit ParsedWorks(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // Nothing where the job has no work, or none that this server can read.
  [[nodiscard]] std::shared_ptr<const wire::Batch> of(const market::Job& job);
  void forget(base::JobId job);

  [[nodiscard]] std::uint64_t parsed() const { return parsed_; }  // Texts, so far.
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    base::JobId job;
    std::size_t bytes;
    std::shared_ptr<const wire::Batch> batch;
  };
  using Entries = std::list<Entry>;
  void drop(Entries::iterator entry);

  const std::size_t most_bytes_;
  Entries entries_;  // What was used longest ago first.
  std::map<base::JobId, Entries::iterator> by_job_;
  std::size_t bytes_ = 0;
  std::uint64_t parsed_ = 0;
};

}  // namespace souk::server
