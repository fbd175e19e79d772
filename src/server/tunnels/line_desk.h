#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/id.h"
#include "net/line.h"

namespace souk::server {

// Ways to programs on machines that nobody can connect to: the machine's agent connects to the
// market instead, as often as it has lines to spare, and each line waits here until somebody wants
// to talk to the program of that lease. The first thing said on it is what is wanted: "port 8000\n"
// or "terminal\n". An agent has lines here only while its program can be talked to. Any thread.
class LineDesk {
 public:
  static constexpr std::size_t kMostOfLease = 64;
  static constexpr std::size_t kMostWaiting = 1'000;  // Who wait for a line.

  using Clock = std::chrono::steady_clock;
  // Null: there was none in time. Called on whatever thread brought the line, or this one; must not
  // block.
  using Taker = std::move_only_function<void(std::unique_ptr<net::Line>)>;

  // A line of the lease's agent. `wish` is then told to it.
  void park(base::LeaseId lease, std::unique_ptr<net::Line> line);
  // A line to the program, now or within `patience`.
  void take(base::LeaseId lease, const std::string& wish, Clock::duration patience, Taker taker);
  // The same, if there is one now; null: there is none.
  [[nodiscard]] std::unique_ptr<net::Line> take_now(base::LeaseId lease, const std::string& wish);
  [[nodiscard]] bool has(base::LeaseId lease) const;
  // Told of each lease that has a line to spare again. Set before use.
  void when_parked(std::function<void(base::LeaseId)> fn) { when_parked_ = std::move(fn); }

  void gone(base::LeaseId lease);  // It is closed.
  void expire(Clock::time_point now);
  void close();

 private:
  struct Waiting {
    base::LeaseId lease;
    std::string wish;
    Clock::time_point until;
    Taker taker;
  };
  [[nodiscard]] std::unique_ptr<net::Line> pop(base::LeaseId lease, const std::string& wish);

  std::function<void(base::LeaseId)> when_parked_ = [](base::LeaseId) {};
  mutable std::mutex mutex_;
  std::map<base::LeaseId, std::deque<std::unique_ptr<net::Line>>> parked_;
  std::list<Waiting> waiting_;
  bool closed_ = false;
};

}  // namespace souk::server
