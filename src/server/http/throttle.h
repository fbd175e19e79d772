#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "net/http.h"
#include "net/rate_limit.h"

namespace souk::server {

// `rate` a second and twice that at once; no limit for 0.
[[nodiscard]] net::RateLimit per_second(int rate);

// How often somebody may do something: an address, an account, a name. Thread-safe.
class Throttle {
 public:
  Throttle(net::RateLimit limit, const base::Clock& clock);

  // Counts one more by `key`. The answer that refuses it, or nothing: it may.
  [[nodiscard]] std::optional<net::Response> refuse(std::string_view key);

 private:
  const base::Clock& clock_;
  net::RateLimiter limiter_;
};

// What keeps people from guessing passwords and from signing up by the thousand.
struct SessionThrottles {
  explicit SessionThrottles(const base::Clock& clock);

  Throttle sign_ups;  // By address.
  Throttle passwords_by_name, passwords_by_address;
};

}  // namespace souk::server
