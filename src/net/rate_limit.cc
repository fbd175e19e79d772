#include "net/rate_limit.h"

#include <algorithm>

#include "base/check.h"

namespace souk::net {

RateLimiter::RateLimiter(RateLimit limit, std::size_t max_keys)
    : limit_(limit), max_keys_(max_keys) {
  CHECK(limit.burst > 0 && limit.per_token.us > 0 && max_keys > 0);
}

RateLimiter::Verdict RateLimiter::take(std::string_view key, base::Time now, std::int64_t tokens) {
  CHECK(tokens > 0 && tokens <= limit_.burst);
  const base::Time emptiest = now + limit_.per_token * limit_.burst;
  const std::lock_guard lock(mutex_);
  const auto found = full_at_.find(key);
  // The upper bound only matters when the clock was set back: nobody owes more than a burst.
  // A bucket that is emptier than empty was filled before the clock was set back: start it afresh.
  const bool known = found != full_at_.end() && found->second <= emptiest;
  const base::Time full_at = known ? std::max(found->second, now) : now;
  const base::Time after = full_at + limit_.per_token * tokens;
  if (after > emptiest) return {.allowed = false, .retry_after = after - emptiest};

  if (found != full_at_.end()) {
    by_fullness_.erase({found->second, found->first});
    found->second = after;
    by_fullness_.emplace(after, found->first);
  } else {
    evict_down_to(max_keys_ - 1);
    const auto added = full_at_.emplace(std::string(key), after).first;
    by_fullness_.emplace(after, added->first);
  }
  return {.allowed = true};
}

void RateLimiter::evict_down_to(std::size_t keys) {
  while (full_at_.size() > keys) {
    const auto fullest = by_fullness_.begin();
    const auto bucket = full_at_.find(fullest->second);
    by_fullness_.erase(fullest);
    full_at_.erase(bucket);
  }
}

std::size_t RateLimiter::keys() const {
  const std::lock_guard lock(mutex_);
  return full_at_.size();
}

}  // namespace souk::net
