#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace souk::base {

// Runs work(self, count, together) on `threads` threads, or as many as the system gives; `together`
// is a barrier of all `count` of them. Returns count.
template <class Work>
std::int32_t on_threads(std::int32_t threads, Work&& work) {
  std::atomic<std::int32_t> count = 0;
  std::optional<std::barrier<>> together;
  std::vector<std::jthread> running;
  try {
    for (std::int32_t i = 1; i < threads; ++i)
      running.emplace_back([&, i] {
        count.wait(0);
        work(i, count.load(), *together);
      });
  } catch (const std::system_error&) {  // A limit on processes: less is done at once.
  }
  const auto all = static_cast<std::int32_t>(running.size()) + 1;
  together.emplace(all);
  count = all;
  count.notify_all();
  work(0, all, *together);
  return all;
}

// Where the part of thread `self` of `count` begins, of `n` things.
inline std::size_t share(std::size_t n, std::int32_t self, std::int32_t count) {
  return n * static_cast<std::size_t>(self) / static_cast<std::size_t>(count);
}

}  // namespace souk::base
