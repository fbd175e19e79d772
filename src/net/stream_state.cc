#include "net/stream_state.h"

#include <utility>

namespace souk::net {

bool StreamState::write(Buffer data) {
  std::function<void()> wake;
  bool accepted = true;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    if (!data || data->empty()) return true;
    if (bytes_ + data->size() > max_bytes_ || count_ == max_count_) {
      closed_ = overflowed_ = true;
      accepted = false;
      queue_.clear();
      wake = wake_;  // Even if one is on its way: a connection that cannot write ignores those.
    } else {
      bytes_ += data->size();
      queued_bytes_ += data->size();
      ++count_;
      queue_.push_back(std::move(data));
      if (!std::exchange(woken_, true)) wake = wake_;
    }
  }
  if (wake) wake();
  return accepted;
}

void StreamState::close() {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    if (!std::exchange(woken_, true)) wake = wake_;
  }
  if (wake) wake();
}

void StreamState::cut() {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || overflowed_) return;
    closed_ = overflowed_ = true;
    queue_.clear();
    wake = wake_;
  }
  if (wake) wake();
}

void StreamState::when_sent(std::function<void()> fn) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_ && count_ > 0) {
      when_sent_ = std::move(fn);
      return;
    }
  }
  fn();
}

bool StreamState::open() const {
  const std::lock_guard lock(mutex_);
  return !closed_;
}

void StreamState::on_close(std::function<void()> fn) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      on_close_.push_back(std::move(fn));
      return;
    }
  }
  fn();
}

bool StreamState::overflowed() const {
  const std::lock_guard lock(mutex_);
  return overflowed_;
}

StreamState::Outgoing StreamState::take() {
  std::function<void()> sent;
  Outgoing out;
  {
    const std::lock_guard lock(mutex_);
    woken_ = false;
    bytes_ = std::exchange(queued_bytes_, 0);
    count_ = queue_.size();
    out = {.buffers = std::exchange(queue_, {}), .last = closed_, .overflowed = overflowed_};
    if (count_ == 0) sent.swap(when_sent_);
  }
  if (sent) sent();
  return out;
}

void StreamState::ended() {
  std::vector<std::function<void()>> callbacks;
  std::function<void()> wake;  // Destroyed outside the lock: it may own the connection.
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true)) return;
    closed_ = true;
    queue_.clear();
    wake.swap(wake_);
    callbacks.swap(on_close_);
    if (when_sent_) callbacks.push_back(std::exchange(when_sent_, nullptr));
  }
  for (const auto& fn : callbacks) fn();
}

}  // namespace souk::net
