#include "server/core/pool.h"

#include <utility>

#include "server/core/contain.h"

namespace souk::server {

Pool::Pool(int threads, std::size_t most_queued) : most_queued_(most_queued) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

Pool::~Pool() {
  decltype(queue_) dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    std::swap(dropped, queue_);
  }
  dropped.clear();  // What is dropped may answer somebody: without the lock, and at once.
  ready_.notify_all();
  for (auto& t : threads_) t.join();
}

bool Pool::post(std::move_only_function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= most_queued_) return false;
    queue_.push_back(std::move(work));
  }
  ready_.notify_one();
  return true;
}

void Pool::run() {
  while (true) {
    std::move_only_function<void()> work;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    contain("a task", work);
    contain("letting go of a task", [&] { work = {}; });
  }
}

}  // namespace souk::server
