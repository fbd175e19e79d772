#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "blob/files.h"
#include "blob/lru.h"
#include "blob/store.h"

namespace souk::blob {

// A folder of encoded chunks, at ab/cdef... by the hex digits of their names. Several processes may
// share one: each file appears whole by a rename, and what another process added, used or removed
// is noticed when its name comes up. The limits are kept by each process for what it knows, so a
// shared folder may pass them by what others wrote meanwhile.
class DiskStore final : public Store {
 public:
  // Removes temporary files that a process left behind over an hour ago.
  [[nodiscard]] static Result<std::unique_ptr<DiskStore>> open(const std::string& path,
                                                               const StoreOptions& options = {});

  [[nodiscard]] bool has(const Digest& name) const override;
  [[nodiscard]] bool knows(const Digest& name) const override;
  [[nodiscard]] std::optional<std::uint64_t> size_of(const Digest& name) const override;
  [[nodiscard]] Result<Bytes> get(const Digest& name) const override;
  [[nodiscard]] Result<Bytes> content(const Digest& name) const override;
  [[nodiscard]] Result<bool> drop(const Digest& name) override;
  [[nodiscard]] Result<std::uint64_t> clean(std::uint64_t bytes) override;
  void on_dropped(std::function<void(const Digest& name)> fn) override;
  void set_max_bytes(std::uint64_t bytes) override;
  [[nodiscard]] std::uint64_t max_bytes() const override;
  [[nodiscard]] std::uint64_t bytes() const override;
  [[nodiscard]] std::size_t count() const override;
  [[nodiscard]] StoreFigures figures() const override;
  [[nodiscard]] const std::string& path() const override { return path_; }

  // All that this process knows of, the longest unused first.
  [[nodiscard]] std::vector<Lru::Item> items() const;

 private:
  DiskStore(std::string path, const StoreOptions& options, Fd root);

  Result<> load();
  Result<> load_fan(const std::string& fan, std::vector<Lru::Item>& found);
  Result<bool> keep(const Digest& name, const Encoded& encoded) override;
  void pin_names(std::span<const Digest> names) const override;
  void unpin_names(std::span<const Digest> names) const override;
  Result<> write(const Digest& name, const Encoded& encoded) const;
  Result<> publish(int fan, const std::string& temporary, const Digest& name,
                   const Encoded& encoded) const;
  // The file of a chunk, its size, and its path for messages. Counts as a use.
  struct Opened {
    Fd file;
    std::uint64_t bytes;
    std::string path;
  };
  Result<Opened> open_chunk(const Digest& name) const;
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

  // The names in lru_, for knows() and figures(): changed together with it, under a lock of their
  // own.
  mutable std::mutex listed_mutex_;
  mutable std::unordered_set<Digest, DigestHash> listed_;
  mutable std::uint64_t listed_bytes_ = 0;
};

}  // namespace souk::blob
