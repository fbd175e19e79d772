#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/id_map.h"
#include "base/time.h"

namespace souk::market {

// The times at which things need attention, soonest first.
//
// Most times are set and moved long before they come, so that is what costs little: an entry is
// appended to the bucket of its time, and one that was moved or erased stays where it was and no
// longer counts. A bucket is put in order when it is first looked at, which is when it is due.
// There are never many more entries than times. Looking changes nothing that anybody can see.
template <class I>
class DueSet {
 public:
  void set(I id, base::Time when) {
    if (when == base::kNever) return erase(id);
    const auto known = when_.size();
    auto& time = when_[id];
    if (when_.size() == known && time == when) return;
    time = when;
    add({when, id});
    if (entries_ > 2 * when_.size() + 1'024) drop_stale();
  }
  void erase(I id) { when_.erase(id); }

  [[nodiscard]] std::optional<base::Time> soonest() const {
    std::optional<base::Time> out;
    visit([&](base::Time when, I) {
      out = when;
      return false;
    });
    return out;
  }

  // Calls visit(when, id) in order of both, until it returns false. It must not change this.
  template <class Visit>
  void visit(Visit&& visit) const {
    for (auto it = buckets_.begin(); it != buckets_.end();) {
      auto& bucket = it->second;
      put_in_order(bucket);
      while (bucket.first < bucket.entries.size() && is_stale(bucket.entries[bucket.first]))
        ++bucket.first;
      for (auto i = bucket.first; i < bucket.entries.size(); ++i) {
        const auto& entry = bucket.entries[i];
        if (!is_stale(entry) && !visit(entry.when, entry.id)) return;
      }
      if (bucket.first < bucket.entries.size()) {
        ++it;
        continue;
      }
      entries_ -= bucket.entries.size();
      it = buckets_.erase(it);
    }
  }

 private:
  struct Entry {
    base::Time when;
    I id;
    auto operator<=>(const Entry&) const = default;
  };
  struct Bucket {
    std::vector<Entry> entries;
    std::size_t first = 0;  // What comes before it is stale.
    bool in_order = false;
  };
  static std::int64_t bucket_of(base::Time when) { return when.us >> 23; }  // About eight seconds.

  [[nodiscard]] bool is_stale(const Entry& entry) const {
    const auto* when = when_.find(entry.id);
    return when == nullptr || *when != entry.when;
  }

  void add(const Entry& entry) {
    auto& bucket = buckets_[bucket_of(entry.when)];
    auto at = bucket.entries.end();
    if (bucket.in_order) {
      at = std::lower_bound(bucket.entries.begin() + static_cast<std::ptrdiff_t>(bucket.first), at,
                            entry);
      if (at != bucket.entries.end() && *at == entry) return;  // It counts again.
    }
    bucket.entries.insert(at, entry);
    ++entries_;
  }

  void put_in_order(Bucket& bucket) const {
    if (bucket.in_order) return;
    const auto before = bucket.entries.size();
    std::erase_if(bucket.entries, [&](const Entry& e) { return is_stale(e); });
    std::ranges::sort(bucket.entries);
    const auto twice = std::ranges::unique(bucket.entries);
    bucket.entries.erase(twice.begin(), twice.end());
    bucket.in_order = true;
    entries_ -= before - bucket.entries.size();
  }

  void drop_stale() {
    for (auto it = buckets_.begin(); it != buckets_.end();) {
      auto& bucket = it->second;
      entries_ -= std::erase_if(bucket.entries, [&](const Entry& e) { return is_stale(e); });
      bucket.first = 0;
      it = bucket.entries.empty() ? buckets_.erase(it) : std::next(it);
    }
  }

  base::IdMap<I, base::Time> when_;
  mutable std::map<std::int64_t, Bucket> buckets_;
  mutable std::size_t entries_ = 0;  // In all buckets, stale ones too.
};

}  // namespace souk::market
