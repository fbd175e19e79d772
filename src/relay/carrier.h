#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/line.h"

namespace souk::relay {

struct CarrierOptions {
  int threads = 1;
  std::size_t most_pairs = 8'192;
};

// Carries bytes between two connections, both ways, as they are, until both sides have ended or one
// is gone. Between two plain sockets they never enter this program (splice). Owns its threads. A
// side that does not take what the other sends makes it wait: nothing is kept but what fits into a
// pipe.
class Carrier {
 public:
  static base::Result<std::unique_ptr<Carrier>> start(CarrierOptions options = {});
  ~Carrier();  // Closes all.
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  struct Counters {
    std::atomic<std::uint64_t> pairs = 0;  // Now.
    std::atomic<std::uint64_t> bytes = 0;  // In all.
  };

  // From any thread. False: there are too many, and both are closed. A pair in which nothing moves
  // for `idle` is closed; zero: never, as long as both computers are there. `held` goes with it.
  bool carry(std::unique_ptr<net::Line> a, std::unique_ptr<net::Line> b, base::Duration idle = {},
             std::shared_ptr<void> held = {});
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  class Worker;
  Carrier() = default;
  CarrierOptions options_;
  Counters counters_;
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;  // Last: their threads end first.
};

}  // namespace souk::relay
