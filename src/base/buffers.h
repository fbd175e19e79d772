#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace souk::base {

// Memory of large buffers that is used again. Fresh pages for each body of 20 MB cost as much as
// moving it. What is free is kept up to a limit, the newest first to be used again, and poisoned
// under AddressSanitizer, so that whoever still reads it is found. Thread-safe.
class BufferPool {
 public:
  // Keeps at most so many bytes that nobody uses.
  explicit BufferPool(std::size_t most_kept) : most_kept_(most_kept) {}
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  [[nodiscard]] std::size_t kept() const;  // Bytes.

 private:
  friend class Buffer;
  struct Piece {
    char* data = nullptr;
    std::size_t capacity = 0;
  };
  Piece take(std::size_t bytes);
  void give_back(Piece piece);

  const std::size_t most_kept_;
  mutable std::mutex mutex_;
  std::multimap<std::size_t, char*> free_;  // By capacity.
  std::size_t kept_ = 0;
};

// That of the process.
[[nodiscard]] BufferPool& buffers();

// So many bytes, aligned for vectors; what is in them at first is undefined. Goes back to its pool,
// which outlives it.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes, BufferPool& pool = buffers());
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  [[nodiscard]] char* data() { return piece_.data; }
  [[nodiscard]] const char* data() const { return piece_.data; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(piece_, other.piece_);
    std::swap(size_, other.size_);
  }
  BufferPool* pool_ = nullptr;
  BufferPool::Piece piece_;
  std::size_t size_ = 0;
};

}  // namespace souk::base
