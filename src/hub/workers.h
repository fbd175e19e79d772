#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "base/time.h"

namespace souk::hub {

struct WorkerLimits {
  int least = 1, most = 8;
  base::Duration wait = base::milliseconds(20);  // Work that waits longer calls for one more.
  base::Duration idle = base::seconds(10);       // One that had nothing to do for so long leaves.
  std::size_t most_queued = 256;
  std::size_t most_queued_bytes = std::size_t{1} << 30;
};

// Threads that grow in number while work waits too long, and shrink when it does not come.
// Thread-safe. What still waits when it is destroyed is dropped; what is running is waited for.
class Workers {
 public:
  explicit Workers(WorkerLimits limits);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False when too much is waiting. `bytes` is the memory that the work holds.
  bool post(std::move_only_function<void()> work, std::size_t bytes = 0);
  [[nodiscard]] int running() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct QueuedCall {
    std::move_only_function<void()> work;
    std::size_t bytes = 0;
    Clock::time_point since;
  };
  void add();
  void watch();
  void serve(std::list<std::thread>::iterator self);

  const WorkerLimits limits_;
  mutable std::mutex mutex_;  // Guards what follows.
  std::condition_variable ready_, changed_;
  std::deque<QueuedCall> queue_;
  std::size_t queued_bytes_ = 0;
  bool stopping_ = false;
  std::list<std::thread> threads_, left_;
  std::thread watcher_;  // Adds workers, and joins those that left.
};

}  // namespace souk::hub
