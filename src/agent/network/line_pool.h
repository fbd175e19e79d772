#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "agent/link.h"
#include "agent/network/porter_link.h"
#include "base/id.h"
#include "net/line.h"
#include "relay/carrier.h"

namespace souk::agent {

struct LinePoolOptions {
  LinkOptions link;
  base::LeaseId lease;
  PorterLink* porter = nullptr;  // Of the program; null: it has no ports.
  int spare = 1;                 // Lines that wait at the market.
  // Is the program fit to be talked to? Asked about twice a second, on the pool's thread.
  std::function<bool()> fit = [] { return true; };
  // Somebody wants the terminal.
  std::function<void(std::unique_ptr<net::Line>)> on_terminal = {};
};

// Lets people talk to a program on this machine, to which nobody can connect: keeps a few lines
// waiting at the market, and when one is wanted there, connects it with the program's port or
// terminal, and opens another. Connects outward only. Owns a thread, and the carrier's.
class LinePool {
 public:
  explicit LinePool(LinePoolOptions options);
  ~LinePool();  // Closes all.
  LinePool(const LinePool&) = delete;
  LinePool& operator=(const LinePool&) = delete;

  // No more lines are offered; those in use go on.
  void close_waiting() { offering_ = false; }
  // Connections to the program now, and bytes that went through in all.
  [[nodiscard]] std::uint64_t in_use() const;
  [[nodiscard]] std::uint64_t bytes() const;
  // Are there lines at the market, or in use?
  [[nodiscard]] bool open() const { return open_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    std::unique_ptr<net::Line> line;
    std::string said;  // By the market, of what is wanted.
    Clock::time_point since;
  };

  void run();
  void dial();
  [[nodiscard]] bool listen(Waiting& waiting);
  void connect(Waiting& waiting);

  const LinePoolOptions options_;
  std::unique_ptr<relay::Carrier> carrier_;
  std::list<Waiting> waiting_;  // Of the thread.
  std::atomic<bool> offering_ = true, open_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace souk::agent
