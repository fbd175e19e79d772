#pragma once

#include "base/clock.h"
#include "net/rate_limit.h"
#include "server/core/core.h"
#include "server/http/api_call.h"

namespace souk::server {

// Did the request come from this computer? A proxy here forwards for somebody elsewhere.
[[nodiscard]] bool is_local(const net::Request& http);

// Did somebody at this computer mean this server? A browser here also sends what pages of other
// sites make it send, even to an address that the page's own name was made to stand for (DNS
// rebinding); but then it says where it believes to be (Host), and whose page it is (Origin).
[[nodiscard]] bool is_meant_locally(const net::Request& http);

// What those hear whose token the market does not know.
[[nodiscard]] base::Failure unknown_token();

// Who sent a request, whether its route is for them, and whether they have not sent too many.
// Thread-safe, but for the state it is shown.
class Authentication {
 public:
  // `requests_per_second` of one account; 0: no limit.
  Authentication(const base::Clock& clock, int requests_per_second);

  // On the core thread. A cookie whose token is no longer good is taken away with the answer.
  [[nodiscard]] Result<market::Actor> actor_of(const Core::Turn& turn, ApiCall& call);
  // What a request cost more than others, in requests: counts as so many of the account's.
  void charge(base::AccountId account, std::int64_t requests);

 private:
  const base::Clock& clock_;
  net::RateLimiter per_account_;
};

}  // namespace souk::server
