#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace souk::net {

// Counts connections, in all and by address, against their limits. Any thread. Internal to src/net.
class Admission {
 public:
  // Connections over a limit that may be held just long enough to be told so. More are cut.
  static constexpr std::size_t kRefusalsAtOnce = 256;

  // `per_address` 0: no limit.
  Admission(std::size_t total, std::size_t per_address)
      : total_(total), per_address_(per_address) {}

  enum class Verdict { welcome, refuse, cut };
  Verdict enter(const std::string& address);
  // Must follow each enter() that was not answered with cut, with that answer.
  void leave(const std::string& address, Verdict verdict);

  std::size_t open() const;  // Welcome or being refused.
  // Until nobody is in; false when `deadline` comes first.
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline);

 private:
  const std::size_t total_;
  const std::size_t per_address_;
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::size_t welcome_ = 0;
  std::size_t refusing_ = 0;
  std::unordered_map<std::string, std::size_t> by_address_;  // Only welcome ones, only if limited.
};

}  // namespace souk::net
