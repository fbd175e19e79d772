#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/time.h"

namespace souk::net {

struct RateLimit {
  std::int64_t burst = 10;                             // What a bucket holds; starts full.
  base::Duration per_token = base::milliseconds(100);  // One token returns each such time.
};

// Token buckets by key. Remembers at most `max_keys`: beyond that it forgets the fullest bucket
// (of equals, the first by name), so someone with many keys cannot grow our memory, nor wash an
// empty bucket clean by making fuller ones. Safe from any thread. Reads no clock.
class RateLimiter {
 public:
  RateLimiter(RateLimit limit, std::size_t max_keys);

  struct Verdict {
    bool allowed = false;
    base::Duration retry_after = {};  // When refused: this long from now it would be allowed.
  };
  // Takes `tokens` (1 to burst) from the bucket of `key`, or takes nothing and refuses.
  Verdict take(std::string_view key, base::Time now, std::int64_t tokens = 1);

  // Takes `tokens`, or as many as there are: for what turns out to cost more than it seemed.
  void charge(std::string_view key, base::Time now, std::int64_t tokens);
  // Puts back what take() took: it was not what the limit is for.
  void give_back(std::string_view key, std::int64_t tokens = 1);

  std::size_t keys() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  using Buckets = std::unordered_map<std::string, base::Time, Hash, std::equal_to<>>;
  base::Time full_at(Buckets::iterator found, base::Time now) const;
  void set(Buckets::iterator found, std::string_view key, base::Time when);
  void evict_down_to(std::size_t keys);

  const RateLimit limit_;
  const std::size_t max_keys_;
  mutable std::mutex mutex_;
  // A bucket is the time at which it will be full again; a full bucket is no bucket at all.
  Buckets full_at_;
  std::set<std::pair<base::Time, std::string_view>> by_fullness_;  // Views of the keys above.
};

}  // namespace souk::net
