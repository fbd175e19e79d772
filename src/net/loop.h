#pragma once

#include <functional>
#include <memory>

#include "base/fd.h"
#include "base/time.h"

// The reactor, Asio underneath: tells who may read or write a socket. Internal to src/net.

namespace souk::net {

enum class Direction { read, write };

// Told on the loop's thread that a socket is ready.
class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual void ready(Direction direction) = 0;
};

// One thread's event loop. post() and here() are for any thread, the rest for the thread in run().
class Loop {
 public:
  using Callback = std::move_only_function<void()>;

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs on the calling thread until finish(), and then until all sockets are closed.
  void run();
  // Calls `tick` every `period` while the loop runs.
  void every(base::Duration period, std::function<void()> tick);
  void finish();

  // Runs `task` on the loop's thread, in order. Tasks posted after finish() are destroyed unrun.
  // Posting many in a row wakes the loop once.
  void post(Callback task);
  bool here() const;

 private:
  friend class Socket;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Owns a non-blocking file descriptor watched by a loop, which outlives it.
class Socket {
 public:
  Socket(Loop& loop, int fd);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }
  // Calls waiter->ready(direction) once, when ready; never after close(). Keeps `waiter` alive
  // until then.
  void wait(Direction direction, std::shared_ptr<Waiter> waiter);
  void close();
  // Watches it no more, and gives it away.
  [[nodiscard]] base::Fd release();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  int fd_;
};

}  // namespace souk::net
