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

// What keeps people from guessing passwords. Only wrong ones count, and by who guesses: a
// stranger's guesses never lock the owner out, who comes from another address (an IPv6 /64 is one).
// What each may do:
//   - an address, on all names together: 100 at once and one a second;
//   - an address, on one name: 10 at once and one each 6 s;
//   - all addresses on one name: 1,000 at once and one each 2 s. Beyond that each address has one
//     guess in ten minutes: so who knows the password gets in at the first try even while thousands
//     guess, and an attacker pays for each guess with an address.
// Thread-safe.
class PasswordGuard {
 public:
  explicit PasswordGuard(const base::Clock& clock);

  // Before a password is checked. The answer that refuses it, whether right or wrong; or nothing.
  [[nodiscard]] std::optional<net::Response> refuse(std::string_view name,
                                                    std::string_view address);
  // It was right: does not count.
  void was_right(std::string_view name, std::string_view address);

 private:
  const base::Clock& clock_;
  net::RateLimiter by_address_, by_both_, by_name_, first_guesses_;
};

// What keeps people from guessing passwords and from signing up by the thousand.
struct SessionThrottles {
  explicit SessionThrottles(const base::Clock& clock);

  Throttle sign_ups;  // By address.
  PasswordGuard passwords;
};

}  // namespace souk::server
