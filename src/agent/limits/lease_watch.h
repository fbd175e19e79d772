#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/limits/memory_use.h"
#include "agent/limits/process_census.h"

// Limits that the kernel does not keep for us: where there are no control groups, the memory of all
// processes of a lease is summed several times a second; where scratch lies in a plain folder on a
// disk, its files are. A lease that holds more than its limit is ended.

namespace souk::agent {

// What to watch of a lease. A limit of 0: not that.
struct WatchPlan {
  pid_t keeper = 0;
  std::int64_t memory_limit = 0;
  std::string memory_scratch = {};  // A path on the file system in memory that counts with it.
  std::int64_t disk_limit = 0;
  std::string disk_folder = {};
};

// What it held when it was ended for it.
struct Excess {
  bool disk = false;  // Or memory.
  std::int64_t bytes = 0;
  int processes = 0;
};

// Watches leases on a thread of its own, which exists while there are any. Thread-safe.
class LeaseWatch {
 public:
  // One lease under watch, until this goes.
  class Lease {
   public:
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    // As of the last look.
    [[nodiscard]] std::int64_t memory_bytes() const;
    [[nodiscard]] std::int64_t memory_peak_bytes() const;
    [[nodiscard]] std::int64_t disk_bytes() const;
    [[nodiscard]] std::vector<pid_t> processes() const;
    [[nodiscard]] std::optional<Excess> excess() const;

   private:
    friend class LeaseWatch;
    Lease(LeaseWatch& watch, std::int64_t id) : watch_(watch), id_(id) {}
    template <class Read>
    auto read(Read what) const {
      const std::lock_guard lock(watch_.mutex_);
      return what(watch_.entries_.at(id_));
    }
    LeaseWatch& watch_;
    const std::int64_t id_;
  };

  ~LeaseWatch();
  // For all leases of this process: one walk through /proc serves them all.
  static LeaseWatch& of_machine();

  // `end` is called once, on the watch's thread, when the lease holds too much. It must not block,
  // nor call back.
  std::unique_ptr<Lease> watch(WatchPlan plan, std::function<void()> end);

 private:
  struct Entry {
    WatchPlan plan;
    std::function<void()> end;
    std::int64_t memory = 0, memory_peak = 0, disk = 0;
    std::vector<pid_t> processes;
    std::optional<Excess> excess;
  };

  void run();
  // `disks`: also the folders, which takes longer.
  void look(ProcessCensus& census, bool disks);
  void look_at(std::int64_t id, const WatchPlan& plan, const std::vector<ProcessMemory>& members,
               bool disks);
  void forget(std::int64_t id);

  mutable std::mutex mutex_;  // Guards what follows.
  std::condition_variable wake_;
  std::map<std::int64_t, Entry> entries_;
  std::int64_t next_id_ = 1;
  bool running_ = false;
  std::thread thread_;
};

}  // namespace souk::agent
