#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace souk::agent {

// The machine's GPUs, each lent to one lease at a time. Only NVIDIA's: device nodes /dev/nvidia0
// and on, and those that all of them share. Thread-safe; outlives its grants.
class Gpus {
 public:
  // Some of them, until this goes.
  class Grant {
   public:
    Grant() = default;
    Grant(Grant&& other) noexcept
        : gpus_(std::exchange(other.gpus_, nullptr)), indexes_(std::move(other.indexes_)) {}
    Grant& operator=(Grant&& other) noexcept {
      std::swap(gpus_, other.gpus_);
      std::swap(indexes_, other.indexes_);
      return *this;
    }
    ~Grant();
    [[nodiscard]] std::size_t count() const { return indexes_.size(); }
    // The device nodes that a program needs to use them.
    [[nodiscard]] std::vector<std::string> devices() const;
    // "0,2", as CUDA_VISIBLE_DEVICES wants it.
    [[nodiscard]] std::string visible() const;

   private:
    friend class Gpus;
    Gpus* gpus_ = nullptr;
    std::vector<int> indexes_;
  };

  // At most `count` of those whose device nodes exist below `root` (for tests).
  explicit Gpus(int count, std::string root = {});

  [[nodiscard]] int count() const { return static_cast<int>(free_.size()); }
  // `exhausted` when fewer are free.
  base::Result<Grant> take(int count);

 private:
  const std::string root_;
  std::mutex mutex_;
  std::vector<bool> free_;
};

}  // namespace souk::agent
