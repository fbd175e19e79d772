#include "base/buffers.h"

#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define SOUK_POISON(data, bytes) ASAN_POISON_MEMORY_REGION(data, bytes)
#define SOUK_UNPOISON(data, bytes) ASAN_UNPOISON_MEMORY_REGION(data, bytes)
#endif
#endif
#ifndef SOUK_POISON
#define SOUK_POISON(data, bytes) (void)0
#define SOUK_UNPOISON(data, bytes) (void)0
#endif

namespace souk::base {
namespace {

constexpr auto kAligned = std::align_val_t{64};
constexpr std::size_t kGrain = 64 * 1024;  // What is smaller is not kept.
constexpr std::size_t kMostKept = std::size_t{192} << 20;

void release(char* data, std::size_t capacity) {
  SOUK_UNPOISON(data, capacity);
  ::operator delete(data, capacity, kAligned);
}

}  // namespace

BufferPool& buffers() {
  static auto& pool = *new BufferPool(kMostKept);  // Outlives whatever ends with the process.
  return pool;
}

BufferPool::~BufferPool() {
  for (const auto& [capacity, data] : free_) release(data, capacity);
}

std::size_t BufferPool::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

// One that fits and is not mostly wasted.
BufferPool::Piece BufferPool::take(std::size_t bytes) {
  const auto capacity = bytes < kGrain ? bytes : (bytes + kGrain - 1) / kGrain * kGrain;
  if (capacity >= kGrain) {
    const std::lock_guard lock(mutex_);
    auto it = free_.lower_bound(capacity);
    if (it != free_.end() && it->first <= capacity + capacity / 4) {
      it = std::prev(free_.upper_bound(it->first));  // The last one that was given back.
      const Piece piece{it->second, it->first};
      free_.erase(it);
      kept_ -= piece.capacity;
      SOUK_UNPOISON(piece.data, piece.capacity);
      return piece;
    }
  }
  return {static_cast<char*>(::operator new(capacity, kAligned)), capacity};
}

void BufferPool::give_back(Piece piece) {
  if (piece.capacity >= kGrain) {
    const std::lock_guard lock(mutex_);
    if (kept_ + piece.capacity <= most_kept_) {
      SOUK_POISON(piece.data, piece.capacity);
      free_.emplace(piece.capacity, piece.data);
      kept_ += piece.capacity;
      return;
    }
  }
  release(piece.data, piece.capacity);
}

Buffer::Buffer(std::size_t bytes, BufferPool& pool) : pool_(&pool), size_(bytes) {
  piece_ = pool.take(bytes);
}

Buffer::~Buffer() {
  if (pool_ != nullptr) pool_->give_back(piece_);
}

}  // namespace souk::base
