#include "server/http/throttle.h"

#include <fmt/format.h>

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

namespace {

net::Response too_many(base::Duration retry_after) {
  auto response = problem(base::Error{base::Code::exhausted, "too many requests", "wait a little"});
  const auto wait = (retry_after.us + 999'999) / 1'000'000;
  response.headers.emplace_back("Retry-After", std::to_string(std::max<std::int64_t>(1, wait)));
  return response;
}

// Names hold no line break.
std::string both(std::string_view name, std::string_view address) {
  return fmt::format("{}\n{}", address, name);
}

}  // namespace

Throttle::Throttle(net::RateLimit limit, const base::Clock& clock)
    : clock_(clock), limiter_(limit, kRememberedKeys) {}

std::optional<net::Response> Throttle::refuse(std::string_view key) {
  const auto verdict = limiter_.take(key, clock_.now());
  if (verdict.allowed) return std::nullopt;
  return too_many(verdict.retry_after);
}

PasswordGuard::PasswordGuard(const base::Clock& clock)
    : clock_(clock),
      by_address_({.burst = 100, .per_token = base::seconds(1)}, kRememberedKeys),
      by_both_({.burst = 10, .per_token = base::seconds(6)}, kRememberedKeys),
      by_name_({.burst = 1'000, .per_token = base::seconds(2)}, kRememberedKeys),
      first_guesses_({.burst = 1, .per_token = base::minutes(10)}, kRememberedKeys) {}

std::optional<net::Response> PasswordGuard::refuse(std::string_view name,
                                                   std::string_view address) {
  const auto now = clock_.now();
  const auto pair = both(name, address);
  if (const auto v = by_address_.take(address, now); !v.allowed) return too_many(v.retry_after);
  if (const auto v = by_both_.take(pair, now); !v.allowed) return too_many(v.retry_after);
  if (by_name_.take(name, now).allowed) return std::nullopt;
  if (const auto v = first_guesses_.take(pair, now); !v.allowed) return too_many(v.retry_after);
  return std::nullopt;
}

void PasswordGuard::was_right(std::string_view name, std::string_view address) {
  const auto pair = both(name, address);
  by_address_.give_back(address);
  by_both_.give_back(pair);
  // Which of these two it was taken from is not known; without the first it has the second.
  first_guesses_.give_back(pair);
}

SessionThrottles::SessionThrottles(const base::Clock& clock)
    : sign_ups({.burst = 100, .per_token = base::seconds(1)}, clock), passwords(clock) {}

}  // namespace souk::server
