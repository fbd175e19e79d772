#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "blob/chunk.h"
#include "blob/files.h"
#include "blob/lru.h"

namespace souk::blob {

struct StoreOptions {
  // Of encoded chunks on disk. What has not been used for longest makes room for what comes.
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
  // Survive a power cut: put() returns after fsync of the file and its folder. Without it a chunk
  // may be lost or torn, which its name then shows; for a cache that is enough.
  bool sync = false;
  // Bounds the index in memory, about 300 bytes a chunk.
  std::size_t most_chunks = 1'000'000;
  // What must stay free on the disk: a chunk that would take it is refused.
  std::uint64_t reserve_bytes = 0;
};

// A folder of encoded chunks, at ab/cdef... by the hex digits of their names. Safe to use from any
// thread. Several processes may share one: each file appears whole by a rename, and what another
// process added, used or removed is noticed when its name comes up. The limits are kept by each
// process for what it knows, so a shared folder may pass them by what others wrote meanwhile.
//
// Never trusts the disk: content() returns what the name names, or an error.
class Store {
 public:
  // Keeps chunks from being evicted, by this process, for as long as it lives. Must not outlive
  // its store. Movable; any thread.
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& other) noexcept;
    Pin& operator=(Pin&& other) noexcept;
    ~Pin();

    // Pins one more. Requires a pin that a store made.
    void add(const Digest& name);

   private:
    friend class Store;
    Pin(const Store* store, std::vector<Digest> names);
    const Store* store_ = nullptr;
    std::vector<Digest> names_;
  };

  // Opens the folder, made if need be (its parent must exist), and reads its index. Removes
  // temporary files that a process left behind over an hour ago.
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(const std::string& path,
                                                           const StoreOptions& options = {});

  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Is it there? Counts as a use: who hears yes will rely on it.
  [[nodiscard]] bool has(const Digest& name) const;

  // The same as far as this process knows, for a thread that may not wait for a disk: no lock that
  // it takes is ever held across one. Does not count as a use.
  [[nodiscard]] bool knows(const Digest& name) const;

  // How much of the disk a chunk takes, as far as this process knows. Does not count as a use.
  [[nodiscard]] std::optional<std::uint64_t> size_of(const Digest& name) const;

  // Keeps an encoded chunk. false: it was there already (which counts as a use).
  //   damaged      it is not what `name` names
  //   exhausted    it does not fit, even after evicting all that is not pinned; or no disk space
  //   unavailable  the disk has no more than the reserve left
  [[nodiscard]] Result<bool> put(const Digest& name, std::string_view encoded);
  struct Added {
    Digest name;
    bool was_there = false;
  };
  // Keeps content of at most kChunkBytes. Added to `pin`, if given, before it could be evicted.
  [[nodiscard]] Result<Added> add(std::string_view content, Pin* pin = nullptr);

  // The encoded chunk, as it is on disk: whoever decodes it verifies it. not_found if absent.
  [[nodiscard]] Result<Bytes> get(const Digest& name) const;
  // The content, verified. One found damaged is removed, so that it can be fetched again.
  [[nodiscard]] Result<Bytes> content(const Digest& name) const;

  // Removes a chunk. False: it is pinned, or was not there.
  [[nodiscard]] Result<bool> drop(const Digest& name);
  // Removes what has not been used for longest and is not pinned, until `bytes` are free or nothing
  // is left to remove. Returns how many bytes went.
  [[nodiscard]] Result<std::uint64_t> clean(std::uint64_t bytes);
  // `fn` hears of each chunk that is no longer there, once, and must not call the store. Before
  // others use it.
  void on_dropped(std::function<void(const Digest& name)> fn);
  // Another limit, for what comes from now on.
  void set_max_bytes(std::uint64_t bytes);

  // Names may be pinned before their chunks arrive.
  [[nodiscard]] Pin pin(std::vector<Digest> names) const;

  [[nodiscard]] std::uint64_t max_bytes() const;
  [[nodiscard]] std::uint64_t bytes() const;  // On disk, as far as this process knows.
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Store(std::string path, const StoreOptions& options, Fd root);

  Result<> load();
  Result<> load_fan(const std::string& fan, std::vector<Lru::Item>& found);
  Result<bool> keep(const Digest& name, std::string_view encoded);
  Result<> write(const Digest& name, std::string_view encoded) const;
  Result<> publish(int fan, const std::string& temporary, const Digest& name,
                   std::string_view encoded) const;
  // These require mutex_.
  bool touch(const Digest& name) const;
  Result<> make_room(std::uint64_t bytes);
  Result<> evict_oldest();
  Result<> remove(const Digest& name);
  std::int64_t now_ns() const;
  void list(const Lru::Item& item) const;
  void unlist(const Digest& name) const;

  std::string path_;
  StoreOptions options_;
  Fd root_;

  mutable std::mutex mutex_;
  mutable Lru lru_;
  mutable std::int64_t last_ns_ = 0;
  std::function<void(const Digest& name)> on_dropped_;
  std::uint64_t reserved_bytes_ = 0;  // Being written now.
  std::size_t reserved_count_ = 0;

  // The names in lru_, for knows(): changed together with it, under a lock of their own.
  mutable std::mutex listed_mutex_;
  mutable std::unordered_set<Digest, DigestHash> listed_;
};

}  // namespace souk::blob
