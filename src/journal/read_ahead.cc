#include "journal/read_ahead.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace souk::journal {
namespace {

// What is read and not made use of yet takes so much memory at most, and one batch more.
constexpr std::size_t kMostBytesAhead = 8 << 20;
constexpr std::size_t kMostBatchesAhead = 256;

struct Copy {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  std::string bytes;
};

// From the thread that reads to the one that uses; each waits for the other where it must. Buffers
// go back and forth.
class Pipe {
 public:
  // False: nobody wants more.
  bool put(const Batch& batch) {
    Copy copy{batch.first, batch.count, {}};
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        return stopped_ || (bytes_ < kMostBytesAhead && ready_.size() < kMostBatchesAhead);
      });
      if (stopped_) return false;
      if (!spare_.empty()) {
        copy.bytes = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    copy.bytes.assign(batch.bytes);
    const std::lock_guard lock(mutex_);
    bytes_ += copy.bytes.size();
    ready_.push_back(std::move(copy));
    changed_.notify_all();
    return true;
  }
  void finish(base::Result<> result) {
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
    changed_.notify_all();
  }

  // All that is ready; empty: there is no more.
  std::deque<Copy> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || result_; });
    bytes_ = 0;
    changed_.notify_all();
    return std::exchange(ready_, {});
  }
  void give_back(std::string buffer) {
    const std::lock_guard lock(mutex_);
    if (spare_.size() < kMostBatchesAhead) spare_.push_back(std::move(buffer));
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  base::Result<> result() {
    const std::lock_guard lock(mutex_);
    return std::move(*result_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Copy> ready_;
  std::vector<std::string> spare_;
  std::size_t bytes_ = 0;
  bool stopped_ = false;
  std::optional<base::Result<>> result_;  // Of reading, once it has ended.
};

base::Result<> visit_all(Pipe& pipe, const History::Visit& visit) {
  for (auto batches = pipe.take(); !batches.empty(); batches = pipe.take()) {
    for (auto& [first, count, bytes] : batches) {
      SOUK_TRY(visit({first, count, bytes}));
      pipe.give_back(std::move(bytes));
    }
  }
  return {};
}

}  // namespace

base::Result<> replay_ahead(History& history, std::uint64_t from, const History::Visit& visit) {
  Pipe pipe;
  // Declared after the pipe, so that it has ended before that goes, however this is left.
  const std::jthread reader([&] {
    pipe.finish(history.replay(from, [&](const Batch& batch) -> base::Result<> {
      if (pipe.put(batch)) return {};
      return base::fail(base::Code::unavailable, "nobody wants more");
    }));
  });
  struct Stop {
    Pipe& pipe;
    ~Stop() { pipe.stop(); }
  } const stop{pipe};
  SOUK_TRY(visit_all(pipe, visit));
  return pipe.result();
}

}  // namespace souk::journal
