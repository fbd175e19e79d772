#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace souk::agent {

// What one process holds that no other could give back. Pages of files are not its own: the kernel
// drops them when it needs the room.
struct ProcessMemory {
  pid_t pid = 0;
  pid_t parent = 0;
  std::int64_t anonymous_bytes = 0;  // Swapped out ones too. After a fork both sides count them.
  std::int64_t shared_bytes = 0;     // Shared memory that is mapped, for each who maps it.
};

// Of the text of /proc/PID/status. `pid` stays 0 where it names no process.
ProcessMemory parse_status(std::string_view text);

// Which processes belong to which lease: all that its keeper started, directly or not. Orphans come
// to the first process of the lease's namespace or to the keeper, so nobody leaves a lease.
//
// Most processes of a machine are in no lease, and never will be: each is read once, and again when
// it has been gone or after `kForget` looks, as numbers are used again. So a look costs a list of
// names and one file for each process of a lease. One thread.
class ProcessCensus {
 public:
  explicit ProcessCensus(std::string proc = "/proc") : proc_(std::move(proc)) {}

  // The members of each lease, its keeper not among them.
  std::map<pid_t, std::vector<ProcessMemory>> look(const std::vector<pid_t>& keepers);

  [[nodiscard]] std::int64_t files_read() const { return files_read_; }  // Since it was made.

 private:
  static constexpr int kForget = 20;

  ProcessMemory read(pid_t pid);
  std::vector<pid_t> all_processes() const;

  const std::string proc_;
  std::set<pid_t> outside_;           // Of no lease.
  std::map<pid_t, pid_t> keeper_of_;  // Members that were seen, and whose they are.
  int looks_ = 0;
  std::int64_t files_read_ = 0;
};

}  // namespace souk::agent
