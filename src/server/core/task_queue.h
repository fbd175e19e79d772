#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "base/time.h"

namespace souk::server {

// A bounded queue from many threads to one. The lock is held for moving tasks in and out only.
template <class Task>
class TaskQueue {
 public:
  explicit TaskQueue(std::size_t most) : most_(most) {}

  // From any thread. False when it is full or closed; the task is dropped.
  bool push(Task task) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || queue_.size() >= most_) return false;
      queue_.push_back(std::move(task));
      if (queue_.size() > 1) return true;  // The reader is awake, or about to look.
    }
    ready_.notify_one();
    return true;
  }

  // Waits for a task, no longer than `wait`. Moves up to `at_once` of them to `out`; false once it
  // is closed and empty.
  bool take(base::Duration wait, std::size_t at_once, std::deque<Task>& out) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, std::chrono::microseconds(wait.us),
                    [&] { return closed_ || !queue_.empty(); });
    if (closed_ && queue_.empty()) return false;
    while (!queue_.empty() && out.size() < at_once) {
      out.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    return true;
  }

  // What is in it can still be taken.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Task> queue_;
  bool closed_ = false;
};

}  // namespace souk::server
