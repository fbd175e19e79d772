#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "blob/disk_store.h"
#include "blob/lru.h"
#include "blob/s3/bucket.h"
#include "blob/store.h"

namespace souk::blob {

// Chunks as objects of a bucket, at PREFIX/ab/cdef... by the hex digits of their names, as they lie
// in a folder. put() returns when the bucket has it. Copies of what was written and read lately lie
// in a folder of this computer, the cache; what they are is checked before they are used.
//
// The index of all objects is in memory: read when the store is opened, by 16 listings at a time.
// Limits count what is in the bucket. One process at a time adds and removes; others may read, and
// find what it added when its name comes up. When a chunk was last used is known since this process
// began; before that, the time when it was written counts.
//
// What lies in the folder of an earlier store is moved into the bucket in the background, and read
// from the folder until then. A chunk leaves the folder after the bucket has it, so it may be
// interrupted at any time and goes on with the next start.
class BucketStore final : public Store {
 public:
  struct Options {
    std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
    std::size_t most_chunks = 1'000'000;
  };
  // `old` may be absent. Starts a thread, which ends with this.
  [[nodiscard]] static Result<std::unique_ptr<BucketStore>> open(std::unique_ptr<Bucket> bucket,
                                                                 std::unique_ptr<DiskStore> cache,
                                                                 std::unique_ptr<DiskStore> old,
                                                                 Options options);
  ~BucketStore() override;

  [[nodiscard]] bool has(const Digest& name) const override;
  [[nodiscard]] bool knows(const Digest& name) const override;
  [[nodiscard]] std::optional<std::uint64_t> size_of(const Digest& name) const override;
  [[nodiscard]] Result<Bytes> get(const Digest& name) const override;
  [[nodiscard]] Result<Bytes> content(const Digest& name) const override;
  [[nodiscard]] std::string direct_url(const Digest& name, base::Duration lasts) const override;
  [[nodiscard]] Result<bool> drop(const Digest& name) override;
  [[nodiscard]] Result<std::uint64_t> clean(std::uint64_t bytes) override;
  void on_dropped(std::function<void(const Digest& name)> fn) override;
  void set_max_bytes(std::uint64_t bytes) override;
  [[nodiscard]] std::uint64_t max_bytes() const override;
  [[nodiscard]] std::uint64_t bytes() const override;
  [[nodiscard]] std::size_t count() const override;
  [[nodiscard]] const std::string& path() const override { return cache_->path(); }

  [[nodiscard]] StoreFigures figures() const override;

 private:
  using Names = std::unordered_set<Digest, DigestHash>;

  BucketStore(std::unique_ptr<Bucket> bucket, std::unique_ptr<DiskStore> cache,
              std::unique_ptr<DiskStore> old, Options options);
  Result<> load();
  Result<bool> keep(const Digest& name, const Encoded& encoded) override;
  void pin_names(std::span<const Digest> names) const override;
  void unpin_names(std::span<const Digest> names) const override;

  // fn(Bytes encoded) -> Result<T>, damaged if that is not what the name names. Copies come first.
  template <class T, class Fn>
  Result<T> read(const Digest& name, Fn fn) const;
  template <class T, class Fn>
  Result<T> read_bucket(const Digest& name, Fn fn) const;

  // These require mutex_.
  void use(const Digest& name, std::uint64_t bytes) const;
  void forget(const Digest& name) const;
  void evict(const Digest& name) const;
  Result<> make_room(std::uint64_t bytes);

  // The background thread: removes what was evicted, moves what is in the old folder.
  void work(const std::stop_token& stop);
  [[nodiscard]] Result<> remove(const Digest& name);
  [[nodiscard]] Result<> move_one(const Digest& name);

  const std::unique_ptr<Bucket> bucket_;
  const std::unique_ptr<DiskStore> cache_;
  const std::unique_ptr<DiskStore> old_;

  mutable std::mutex mutex_;  // Never held across a disk or a call of the bucket.
  mutable std::condition_variable_any changed_;
  // All that follows is under mutex_.
  struct Index {
    Options options;
    Lru lru;
    std::int64_t last_ns = 0;
    std::function<void(const Digest& name)> on_dropped;
    std::uint64_t reserved_bytes = 0;  // Being written now.
    std::size_t reserved_count = 0;
    Names to_move;                 // Of lru: in the old folder only.
    std::deque<Digest> to_remove;  // Not in lru any more.
    Names removing;                // All of to_remove, and what is being removed now.
    StoreFigures figures;
  };
  mutable Index index_;
  std::jthread worker_;
};

}  // namespace souk::blob
