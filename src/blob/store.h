#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "blob/chunk.h"

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

struct StoreFigures {
  std::uint64_t chunks = 0;
  std::uint64_t bytes = 0;
  // Of a bucket only:
  bool in_bucket = false;
  std::uint64_t to_move = 0;    // Chunks that are still in a folder only.
  std::uint64_t to_remove = 0;  // That left the index and are still in the bucket.
  std::uint64_t from_cache = 0, from_bucket = 0;  // Reads so far.
  std::string trouble;                            // Why that does not go on, if it does not.
};

// Encoded chunks by their names, within limits: what has not been used for longest makes room for
// what comes. In a folder (open()), or in a bucket with a folder before it (s3/bucket_store.h).
// Safe to use from any thread.
//
// Never trusts a disk or a bucket: content() returns what the name names, or an error.
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

  // A store in a folder, made if need be (its parent must exist), with its index read. Several
  // processes may share one (disk_store.h).
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(const std::string& path,
                                                           const StoreOptions& options = {});
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Is it there? Counts as a use: who hears yes will rely on it.
  [[nodiscard]] virtual bool has(const Digest& name) const = 0;

  // The same as far as this process knows, for a thread that may not wait for a disk: no lock that
  // it takes is ever held across one. Does not count as a use.
  [[nodiscard]] virtual bool knows(const Digest& name) const = 0;

  // How much room a chunk takes, as far as this process knows. Does not count as a use.
  [[nodiscard]] virtual std::optional<std::uint64_t> size_of(const Digest& name) const = 0;

  // Keeps an encoded chunk. false: it was there already (which counts as a use).
  //   damaged      it is not what `name` names
  //   exhausted    it does not fit, even after evicting all that is not pinned; or no disk space
  //   unavailable  the disk has no more than the reserve left, or the bucket does not answer
  [[nodiscard]] Result<bool> put(const Digest& name, std::string_view encoded);
  struct Added {
    Digest name;
    bool was_there = false;
  };
  // Keeps content of at most kChunkBytes. Added to `pin`, if given, before it could be evicted.
  [[nodiscard]] Result<Added> add(std::string_view content, Pin* pin = nullptr);

  // The encoded chunk, as it lies there: whoever decodes it verifies it. not_found if absent.
  [[nodiscard]] virtual Result<Bytes> get(const Digest& name) const = 0;
  // The content, verified. One found damaged is removed, so that it can be fetched again.
  [[nodiscard]] virtual Result<Bytes> content(const Digest& name) const = 0;

  // An address where whoever has it may GET the encoded chunk for so long, from somebody else than
  // this process; whoever does verifies what comes. Empty: there is none. Asks no disk.
  [[nodiscard]] virtual std::string direct_url(const Digest& name, base::Duration lasts) const {
    (void)name, (void)lasts;
    return {};
  }

  // Removes a chunk. False: it is pinned, or was not there.
  [[nodiscard]] virtual Result<bool> drop(const Digest& name) = 0;
  // Removes what has not been used for longest and is not pinned, until `bytes` are free or nothing
  // is left to remove. Returns how many bytes went.
  [[nodiscard]] virtual Result<std::uint64_t> clean(std::uint64_t bytes) = 0;
  // `fn` hears of each chunk that is no longer there, once, and must not call the store. Before
  // others use it.
  virtual void on_dropped(std::function<void(const Digest& name)> fn) = 0;
  // Another limit, for what comes from now on.
  virtual void set_max_bytes(std::uint64_t bytes) = 0;

  // Names may be pinned before their chunks arrive.
  [[nodiscard]] Pin pin(std::vector<Digest> names) const;

  [[nodiscard]] virtual std::uint64_t max_bytes() const = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;  // As far as this process knows.
  [[nodiscard]] virtual std::size_t count() const = 0;
  // As far as this process knows, for a thread that may not wait for a disk.
  [[nodiscard]] virtual StoreFigures figures() const = 0;
  // The folder of this store on this computer.
  [[nodiscard]] virtual const std::string& path() const = 0;

 protected:
  Store() = default;

 private:
  // As put(), of a chunk that is what its name says.
  virtual Result<bool> keep(const Digest& name, const Encoded& encoded) = 0;
  virtual void pin_names(std::span<const Digest> names) const = 0;
  virtual void unpin_names(std::span<const Digest> names) const = 0;
};

}  // namespace souk::blob
