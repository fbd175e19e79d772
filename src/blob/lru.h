#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "blob/chunk.h"

namespace souk::blob {

// Which chunks a store has, in order of last use, and which of them must stay. Pure bookkeeping
// about names and sizes: no disk, no clock, not thread-safe. Every operation takes constant time,
// because pinned chunks are kept out of the list from which the oldest is taken.
class Lru {
 public:
  struct Item {
    Digest name;
    std::uint64_t bytes = 0;
    std::int64_t used_ns = 0;
  };

  [[nodiscard]] bool contains(const Digest& name) const { return places_.contains(name); }
  [[nodiscard]] std::size_t count() const { return places_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t pinned_bytes() const { return pinned_bytes_; }
  [[nodiscard]] bool pinned(const Digest& name) const { return pins_.contains(name); }
  [[nodiscard]] std::optional<std::uint64_t> bytes_of(const Digest& name) const;
  // All chunks: those that are not pinned first, each oldest first.
  [[nodiscard]] std::vector<Item> items() const;
  // The least recently used chunk that is not pinned.
  [[nodiscard]] std::optional<Item> oldest() const;

  // Makes `item` the most recently used, whether it was known or not.
  void use(const Item& item);
  void erase(const Digest& name);

  // Pins count: what was pinned twice is free after two unpins. A name may be pinned before its
  // chunk arrives. Unpinned chunks count as just used.
  void pin(std::span<const Digest> names);
  void unpin(std::span<const Digest> names);

 private:
  using List = std::list<Item>;
  struct Place {
    List::iterator at;
    bool pinned = false;
  };
  void move(Place& place, bool pinned);

  List free_, pinned_;  // Oldest first.
  std::unordered_map<Digest, Place, DigestHash> places_;
  std::unordered_map<Digest, std::uint32_t, DigestHash> pins_;
  std::uint64_t bytes_ = 0;
  std::uint64_t pinned_bytes_ = 0;
};

}  // namespace souk::blob
