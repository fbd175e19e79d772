#include "server/http/throttle.h"

#include <algorithm>
#include <string>

#include "server/http/responses.h"

namespace souk::server {
namespace {

constexpr std::size_t kRememberedKeys = 100'000;

}  // namespace

net::RateLimit per_second(int rate) {
  if (rate <= 0) return {.burst = 1'000'000'000, .per_token = base::Duration(1)};
  return {.burst = 2L * rate, .per_token = base::Duration(1'000'000 / rate)};
}

Throttle::Throttle(net::RateLimit limit, const base::Clock& clock)
    : clock_(clock), limiter_(limit, kRememberedKeys) {}

std::optional<net::Response> Throttle::refuse(std::string_view key) {
  const auto verdict = limiter_.take(key, clock_.now());
  if (verdict.allowed) return std::nullopt;
  auto response = problem(base::Error{base::Code::exhausted, "too many requests", "wait a little"});
  const auto wait = (verdict.retry_after.us + 999'999) / 1'000'000;
  response.headers.emplace_back("Retry-After", std::to_string(std::max<std::int64_t>(1, wait)));
  return response;
}

SessionThrottles::SessionThrottles(const base::Clock& clock)
    : sign_ups({.burst = 100, .per_token = base::seconds(1)}, clock),
      passwords_by_name({.burst = 10, .per_token = base::seconds(6)}, clock),
      passwords_by_address({.burst = 100, .per_token = base::seconds(1)}, clock) {}

}  // namespace souk::server
