#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace souk::net {

// The queue between the writers of a stream (any thread) and its connection (one I/O thread).
// Internal to src/net.
class StreamState {
 public:
  using Buffer = std::shared_ptr<const std::string>;

  // `wake` tells the connection to look here; it is called from writers' threads, never under the
  // lock, and dropped when the stream ends.
  StreamState(std::size_t max_bytes, std::size_t max_count, std::function<void()> wake)
      : max_bytes_(max_bytes), max_count_(max_count), wake_(std::move(wake)) {}

  // For writers; see Stream.
  bool write(Buffer data);
  void close();
  void cut();
  void when_sent(std::function<void()> fn);
  bool open() const;
  void on_close(std::function<void()> fn);

  // For the connection, which must be cut once overflowed(), even while it cannot write.
  bool overflowed() const;
  struct Outgoing {
    std::vector<Buffer> buffers;
    bool last = false;        // Close the body after these ...
    bool overflowed = false;  // ... unless some were lost: then it must not seem complete.
  };
  // What came since the last take, which the connection has by now sent. With nothing to send it
  // runs what waits for that.
  Outgoing take();
  // The connection is done with the stream. Runs the on_close functions.
  void ended();

 private:
  const std::size_t max_bytes_;
  const std::size_t max_count_;
  mutable std::mutex mutex_;
  std::function<void()> wake_;
  std::vector<Buffer> queue_;
  std::size_t bytes_ = 0;  // Queued, and taken but perhaps not sent yet.
  std::size_t count_ = 0;
  std::size_t queued_bytes_ = 0;
  bool closed_ = false;
  bool overflowed_ = false;
  bool ended_ = false;
  bool woken_ = false;  // A wake is on its way.
  std::vector<std::function<void()>> on_close_;
  std::function<void()> when_sent_;
};

}  // namespace souk::net
