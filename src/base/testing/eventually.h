#pragma once

#include <poll.h>

#include <chrono>
#include <functional>

namespace souk::base::testing {

inline constexpr auto kPatience = std::chrono::seconds(60);

// Waits for something that no socket or condition variable announces. False after `patience`.
inline bool eventually(const std::function<bool()>& condition,
                       std::chrono::steady_clock::duration patience = kPatience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

}  // namespace souk::base::testing
