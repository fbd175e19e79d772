#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/result.h"

namespace souk::server {

// What the programs of leases printed: one file each, in a folder per job. Beside the journal; not
// fsynced, for a line that a crash takes is sent again by an agent that was not told of it. Any
// thread, but one at a time for one lease.
class Logs {
 public:
  static constexpr std::int64_t kMost = 64 << 20;       // Kept of one lease.
  static constexpr std::size_t kMostRead = 256 * 1024;  // At once.

  explicit Logs(std::string folder) : folder_(std::move(folder)) {}

  // Writes `text` at `offset` and returns the size from then on. An agent that repeats itself
  // overwrites what is there; one that leaves a gap is told the size to go on from (conflict). What
  // would pass kMost is dropped.
  [[nodiscard]] base::Result<std::int64_t> append(base::JobId job, base::LeaseId lease,
                                                  std::int64_t offset, std::string_view text) const;
  // From `from` on, at most kMostRead. Nothing printed yet is the empty text.
  [[nodiscard]] base::Result<std::string> read(base::JobId job, base::LeaseId lease,
                                               std::int64_t from) const;
  void forget(base::JobId job) const;

 private:
  [[nodiscard]] std::string path(base::JobId job, base::LeaseId lease) const;

  std::string folder_;
};

}  // namespace souk::server
