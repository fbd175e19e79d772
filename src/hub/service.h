#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/time.h"
#include "hub/store.h"
#include "net/server.h"

// A parameter service: folds updates and hands out parameters over HTTP, as a process of its own.
// Several of them, on one shared store, serve one job together.
//
//   GET  /v1/hub/{job}/parameters?since=VERSION      what changed since (train/pull.h)
//   PUT  /v1/hub/{job}/parameters?rule=NAME          begins: the body is the model's floats
//   POST /v1/hub/{job}/fold?id=&base=&epoch=&weight=&rule=&codec=
//        the body is an update (train/update.h). Params of the rule are given as rule.NAME=VALUE.
//        An id is folded once, however often it is sent. Answers {"version": N}.
//
// All need "Authorization: Bearer SECRET".

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
  struct Piece {
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
  std::deque<Piece> queue_;
  std::size_t queued_bytes_ = 0;
  bool stopping_ = false;
  std::list<std::thread> threads_, left_;
  std::thread watcher_;  // Adds workers, and joins those that left.
};

struct ServiceOptions {
  std::string store;   // As make_store() reads it.
  std::string secret;  // Of at least kLeastSecret characters.
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  int threads = 1;  // For connections.
  std::optional<net::ServerTls> tls = {};
  std::size_t most_body_bytes = std::size_t{256} << 20;
  WorkerLimits workers = {};
};

inline constexpr std::size_t kLeastSecret = 16;

// Serves until it goes. Thread-safe.
class Service {
 public:
  // Refuses a store that cannot be reached.
  static base::Result<std::unique_ptr<Service>> start(ServiceOptions options);
  ~Service();

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] int workers() const;

 private:
  struct Impl;
  explicit Service(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace souk::hub
