#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/id.h"
#include "base/result.h"

namespace souk::server {

// Who pays for the logs of a job, and whether it has ended.
struct LogOwner {
  base::AccountId account;
  bool ended = false;
};

// What the programs of leases printed: one file each, in a folder per job. Beside the journal; not
// fsynced, for a line that a crash takes is sent again by an agent that was not told of it. Any
// thread, but one at a time for one lease.
//
// Borrowers are charged for the logs of their jobs (budget `log-bytes`). When it is used up, the
// logs of jobs that have ended make room, the oldest first; then what follows is dropped.
class Logs {
 public:
  static constexpr std::int64_t kMost = 64 << 20;       // Kept of one lease.
  static constexpr std::size_t kMostRead = 256 * 1024;  // At once.

  Logs(std::string folder, base::Budget& budget) : folder_(std::move(folder)), budget_(budget) {}

  // What must stay free on the disk. Before others use it.
  void set_reserve(std::uint64_t bytes) { reserve_ = bytes; }
  // Counts the logs that are there; those of jobs that nobody knows any more go. When the budget
  // has its limit.
  void recall(const std::function<std::optional<LogOwner>(base::JobId)>& owner_of);

  // Writes `text` at `offset` and returns the size from then on. An agent that repeats itself
  // overwrites what is there; one that leaves a gap is told the size to go on from (conflict). What
  // would pass kMost, or the budget of the job's owner, is dropped. unavailable: the disk is full.
  [[nodiscard]] base::Result<std::int64_t> append(base::JobId job, base::LeaseId lease,
                                                  const LogOwner& owner, std::int64_t offset,
                                                  std::string_view text);
  // From `from` on, at most kMostRead. Nothing printed yet is the empty text.
  [[nodiscard]] base::Result<std::string> read(base::JobId job, base::LeaseId lease,
                                               std::int64_t from) const;
  // Its logs may make room for others.
  void ended(base::JobId job);
  void forget(base::JobId job);

 private:
  struct JobLog {
    LogOwner owner;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::string path(base::JobId job, base::LeaseId lease) const;
  // Takes `bytes` more of the budget for the job. False: they do not fit.
  bool take(base::JobId job, const LogOwner& owner, std::uint64_t bytes);
  // The oldest job that has ended: of this account, or of any.
  [[nodiscard]] std::optional<base::JobId> oldest_ended(
      std::optional<base::AccountId> account) const;

  const std::string folder_;
  base::Budget& budget_;
  std::uint64_t reserve_ = 0;
  mutable std::mutex mutex_;
  std::map<base::JobId, JobLog> jobs_;                      // Those with logs.
  std::map<base::AccountId, std::set<base::JobId>> ended_;  // Of these, oldest first.
};

}  // namespace souk::server
