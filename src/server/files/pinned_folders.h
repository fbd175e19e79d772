#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>

#include "base/time.h"
#include "blob/manifest.h"
#include "blob/store.h"

namespace souk::server {

// Keeps folders that no job holds yet from making room for others, for the hours in which somebody
// looks at a plan and says yes. Bounded, so that nobody can fill the store with what is never
// submitted: what was added first is let go first, and then ages like everything else. Any thread;
// must not outlive the store.
class PinnedFolders {
 public:
  static constexpr base::Duration kFor = base::hours(6);
  static constexpr std::size_t kMostFolders = 20'000;
  static constexpr std::size_t kMostNames = 1'000'000;  // Of chunks, which take memory.

  PinnedFolders(blob::Store& store, std::uint64_t most_bytes)
      : store_(store), most_bytes_(most_bytes) {}

  // Keeps the folder `root` from now on, anew if it is kept already. False: not all of it is in
  // the store.
  bool add(const blob::Digest& root, const blob::Manifest& manifest, base::Time now);
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct Item {
    blob::Digest root;
    std::uint64_t bytes;
    std::size_t names;
    base::Time until;
    blob::Store::Pin pin;
  };
  void drop(std::list<Item>::iterator item);

  blob::Store& store_;
  const std::uint64_t most_bytes_;
  mutable std::mutex mutex_;
  std::list<Item> items_;  // Oldest first.
  std::unordered_map<blob::Digest, std::list<Item>::iterator, blob::DigestHash> by_root_;
  std::uint64_t bytes_ = 0;
  std::size_t names_ = 0;
};

}  // namespace souk::server
