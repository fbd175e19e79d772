#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
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
  // A GPU, or a slice of one.
  struct Unit {
    std::string uuid;                // May be unknown.
    std::vector<std::string> nodes;  // That no other needs, but for slices of one GPU.
    int place = 0;                   // Among all of the machine, as GpuBoard counts them.
  };

  // Some of them, until this goes.
  class Grant {
   public:
    Grant() = default;
    Grant(Grant&& other) noexcept
        : gpus_(std::exchange(other.gpus_, nullptr)),
          indexes_(std::move(other.indexes_)),
          borrowed_(other.borrowed_) {}
    Grant& operator=(Grant&& other) noexcept {
      std::swap(gpus_, other.gpus_);
      std::swap(indexes_, other.indexes_);
      std::swap(borrowed_, other.borrowed_);
      return *this;
    }
    ~Grant();
    [[nodiscard]] std::size_t count() const { return indexes_.size(); }
    // Their places among all of the machine.
    [[nodiscard]] std::vector<int> places() const;
    // The device nodes that a program needs to use them.
    [[nodiscard]] std::vector<std::string> devices() const;
    // As CUDA_VISIBLE_DEVICES wants it: UUIDs, or "0,2" where those are not known.
    [[nodiscard]] std::string visible() const;
    [[nodiscard]] std::vector<std::string> uuids() const;

   private:
    friend class Gpus;
    Gpus* gpus_ = nullptr;
    std::vector<int> indexes_;
    bool borrowed_ = false;
  };

  // Those whose device nodes exist below `root` (for tests), up to the first that has none.
  explicit Gpus(std::vector<Unit> units, std::string root = {});
  // /dev/nvidia0 and on, at most `count`.
  explicit Gpus(int count, std::string root = {});
  // Whether they have device nodes or not: what `souk doctor` tries, and tests.
  static std::unique_ptr<Gpus> without_nodes(int count);

  [[nodiscard]] int count() const { return static_cast<int>(free_.size()); }
  // `exhausted` when fewer are free. Waits for those that are borrowed, half a minute at most.
  base::Result<Grant> take(int count);
  // For a few seconds, to show what they can do: a lease that wants them waits.
  base::Result<Grant> borrow(int count);

 private:
  base::Result<Grant> take(int count, bool borrow);

  const std::string root_;
  std::vector<Unit> units_;
  std::mutex mutex_;
  std::condition_variable returned_;
  int borrowed_ = 0;
  std::vector<bool> free_;
};

}  // namespace souk::agent
