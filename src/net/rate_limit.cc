#include "net/rate_limit.h"

#include <algorithm>

#include "base/check.h"

namespace souk::net {

RateLimiter::RateLimiter(RateLimit limit, std::size_t max_keys)
    : limit_(limit), max_keys_(max_keys) {
  CHECK(limit.burst > 0 && limit.per_token.us > 0 && max_keys > 0);
}

// A bucket that is emptier than empty was filled before the clock was set back: start it afresh.
base::Time RateLimiter::full_at(Buckets::iterator found, base::Time now) const {
  const base::Time emptiest = now + limit_.per_token * limit_.burst;
  const bool known = found != full_at_.end() && found->second <= emptiest;
  return known ? std::max(found->second, now) : now;
}

void RateLimiter::set(Buckets::iterator found, std::string_view key, base::Time when) {
  if (found != full_at_.end()) {
    by_fullness_.erase({found->second, found->first});
    found->second = when;
  } else {
    evict_down_to(max_keys_ - 1);
    found = full_at_.emplace(std::string(key), when).first;
  }
  by_fullness_.emplace(when, found->first);
}

RateLimiter::Verdict RateLimiter::take(std::string_view key, base::Time now, std::int64_t tokens) {
  CHECK(tokens > 0 && tokens <= limit_.burst);
  const base::Time emptiest = now + limit_.per_token * limit_.burst;
  const std::lock_guard lock(mutex_);
  const auto found = full_at_.find(key);
  const base::Time after = full_at(found, now) + limit_.per_token * tokens;
  if (after > emptiest) return {.allowed = false, .retry_after = after - emptiest};
  set(found, key, after);
  return {.allowed = true};
}

void RateLimiter::charge(std::string_view key, base::Time now, std::int64_t tokens) {
  if (tokens <= 0) return;
  const base::Time emptiest = now + limit_.per_token * limit_.burst;
  const std::lock_guard lock(mutex_);
  const auto found = full_at_.find(key);
  const auto cost = limit_.per_token * std::min(tokens, limit_.burst);
  set(found, key, std::min(full_at(found, now) + cost, emptiest));
}

void RateLimiter::give_back(std::string_view key, std::int64_t tokens) {
  const std::lock_guard lock(mutex_);
  const auto found = full_at_.find(key);
  if (found != full_at_.end()) set(found, key, found->second - limit_.per_token * tokens);
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
