#include "hub/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/check.h"

namespace souk::hub {
namespace {

std::chrono::microseconds chrono(base::Duration d) { return std::chrono::microseconds(d.us); }

// What it throws is the failure of that request, which is answered as it is unwound.
void run(std::move_only_function<void()>& work) {
  try {
    work();
  } catch (const std::exception& e) {
    fmt::print(stderr, "souk: a request failed: {}\n", e.what());
  }
}

}  // namespace

Workers::Workers(WorkerLimits limits) : limits_(limits) {
  CHECK(limits.least >= 1 && limits.most >= limits.least);
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < limits.least; ++i) add();
  watcher_ = std::thread([this] { watch(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
  }
  ready_.notify_all();
  changed_.notify_all();
  watcher_.join();
  for (auto& t : threads_) t.join();
  for (auto& t : left_) t.join();
}

bool Workers::post(std::move_only_function<void()> work, std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= limits_.most_queued ||
        queued_bytes_ + bytes > limits_.most_queued_bytes)
      return false;
    queued_bytes_ += bytes;
    queue_.push_back({std::move(work), bytes, Clock::now()});
  }
  ready_.notify_one();
  changed_.notify_one();
  return true;
}

int Workers::running() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(threads_.size());
}

// Requires mutex_.
void Workers::add() {
  const auto self = threads_.emplace(threads_.end());
  *self = std::thread([this, self] { serve(self); });
}

void Workers::watch() {
  std::unique_lock lock(mutex_);
  Clock::time_point last_added;
  while (!stopping_) {
    for (; !left_.empty(); left_.pop_front()) left_.front().join();
    if (queue_.empty() || std::ssize(threads_) >= limits_.most) {
      changed_.wait(lock);
      continue;
    }
    // One at a time: the last one added gets a chance to take what waits.
    const auto due = std::max(queue_.front().since, last_added) + chrono(limits_.wait);
    if (Clock::now() < due) {
      changed_.wait_until(lock, due);
      continue;
    }
    add();
    last_added = Clock::now();
  }
}

void Workers::serve(std::list<std::thread>::iterator self) {
  std::unique_lock lock(mutex_);
  while (true) {
    const bool called =
        ready_.wait_for(lock, chrono(limits_.idle), [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    if (!called) {
      if (std::ssize(threads_) <= limits_.least) continue;
      left_.splice(left_.end(), threads_, self);
      changed_.notify_one();
      return;
    }
    auto piece = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= piece.bytes;
    lock.unlock();
    run(piece.work);
    piece.work = {};
    lock.lock();
    changed_.notify_one();
  }
}

}  // namespace souk::hub
