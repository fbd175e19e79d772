#pragma once

#include <atomic>
#include <chrono>

#include "base/time.h"

namespace souk::base {

// Where time comes from. The pure core never holds one: time reaches it inside a command.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() const override {
    using namespace std::chrono;
    return Time(
        duration_cast<std::chrono::microseconds>(system_clock::now().time_since_epoch()).count());
  }
};

// For tests and the lab: moves only when told to. Safe to read from any thread.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(Time start) : us_(start.us) {}
  Time now() const override { return Time(us_.load()); }
  void advance(Duration d) { us_ += d.us; }

 private:
  std::atomic<std::int64_t> us_;
};

}  // namespace souk::base
