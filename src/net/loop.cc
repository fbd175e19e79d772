#include "net/loop.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace souk::net {

namespace asio = boost::asio;
using boost::system::error_code;

struct Loop::Impl {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  asio::steady_timer timer{context};
  base::Duration period;
  std::function<void()> tick;
  std::atomic<std::thread::id> thread{};

  std::mutex mutex;
  std::vector<Callback> inbox;
  bool finished = false;

  void run_inbox() {
    std::vector<Callback> tasks;
    {
      const std::lock_guard lock(mutex);
      tasks.swap(inbox);
    }
    for (Callback& task : tasks) {
      task();
      task = nullptr;
    }
  }

  void schedule_tick() {
    timer.expires_after(std::chrono::microseconds(period.us));
    timer.async_wait([this](error_code error) {
      if (error) return;
      tick();
      const std::lock_guard lock(mutex);
      if (!finished) schedule_tick();
    });
  }
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {}
Loop::~Loop() = default;

void Loop::run() {
  impl_->thread = std::this_thread::get_id();
  impl_->context.run();
}

void Loop::every(base::Duration period, std::function<void()> tick) {
  impl_->period = period;
  impl_->tick = std::move(tick);
  impl_->schedule_tick();
}

void Loop::finish() {
  std::vector<Callback> dropped;  // Destroyed outside the lock: a task may own a reply.
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->finished = true;
    dropped.swap(impl_->inbox);
  }
  impl_->timer.cancel();
  impl_->work.reset();
}

void Loop::post(Callback task) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->finished) return;
  impl_->inbox.push_back(std::move(task));
  if (impl_->inbox.size() == 1)
    asio::post(impl_->context, [impl = impl_.get()] { impl->run_inbox(); });
}

bool Loop::here() const { return impl_->thread.load() == std::this_thread::get_id(); }

struct Socket::Impl {
  asio::posix::stream_descriptor descriptor;
};

Socket::Socket(Loop& loop, int fd)
    : impl_(new Impl{asio::posix::stream_descriptor(loop.impl_->context, fd)}), fd_(fd) {}
Socket::~Socket() = default;

void Socket::wait(Direction direction, std::shared_ptr<Waiter> waiter) {
  const auto kind = direction == Direction::read ? asio::posix::stream_descriptor::wait_read
                                                 : asio::posix::stream_descriptor::wait_write;
  impl_->descriptor.async_wait(kind, [direction, waiter = std::move(waiter)](error_code error) {
    if (!error) waiter->ready(direction);
  });
}

base::Fd Socket::release() {
  error_code ignored;
  impl_->descriptor.cancel(ignored);
  return base::Fd(impl_->descriptor.release());
}

void Socket::close() {
  error_code ignored;
  impl_->descriptor.close(ignored);
}

}  // namespace souk::net
