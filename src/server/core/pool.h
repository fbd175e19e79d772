#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace souk::server {

// Runs slow work (password hashing) away from the I/O and core threads: at most
// `threads` pieces at once and with a bounded queue, so that a flood of logins cannot take the
// memory or the processors. What still waits when it is destroyed is dropped; what a piece of work
// throws ends that piece alone.
class Pool {
 public:
  explicit Pool(int threads = 1, std::size_t most_queued = 256);
  ~Pool();
  // False when too many are waiting; the work is dropped.
  bool post(std::move_only_function<void()> work);

 private:
  void run();

  const std::size_t most_queued_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::move_only_function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace souk::server
