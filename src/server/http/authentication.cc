#include "server/http/authentication.h"

#include "net/address.h"
#include "server/http/session_cookie.h"
#include "server/http/throttle.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;
using market::Scope;

constexpr std::size_t kRememberedAccounts = 100'000;

}  // namespace

bool is_local(const net::Request& http) {
  return http.peer.loopback && http.header("Forwarded").empty() &&
         http.header("X-Forwarded-For").empty();
}

bool is_meant_locally(const net::Request& http) {
  if (!is_local(http)) return false;
  // "[::1]:7070" -> "::1"
  auto host = http.header("Host");
  if (const auto port = host.rfind(':'); port != host.npos && !host.ends_with(']'))
    host = host.substr(0, port);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  // Without a Host (HTTP/1.0) it was no browser.
  const bool here = host.empty() || net::equal_ignoring_case(host, "localhost") || host == "::1" ||
                    (host.starts_with("127.") && net::Address::parse(host).has_value());
  const auto origin = http.header("Origin");
  return here && (origin.empty() || is_same_site(origin, http.header("Host"))) &&
         !net::equal_ignoring_case(http.header("Sec-Fetch-Site"), "cross-site");
}

base::Failure unknown_token() {
  return fail(Code::unauthenticated, "the token is unknown, revoked or expired",
              "log in again: souk login NAME");
}

Authentication::Authentication(const base::Clock& clock, int requests_per_second)
    : clock_(clock), per_account_(per_second(requests_per_second), kRememberedAccounts) {}

Result<market::Actor> Authentication::actor_of(const Core::Turn& turn, ApiCall& call) {
  const auto& digest = call.credential.token;
  const auto* token = digest ? turn.state().find_token(*digest, turn.now()) : nullptr;
  if (token == nullptr && call.credential.cookie) call.reply.drop_cookie();
  if (token == nullptr) return unknown_token();
  call.reply.vouch();
  const auto access = call.route->access;
  if (token->scope == Scope::machine && access != Access::agent && access != Access::everybody)
    return fail(Code::forbidden, "a machine's token acts for its machine only",
                "use your own token");
  if (token->scope == Scope::spend && !call.route->spending && access != Access::everybody)
    return fail(Code::forbidden, "a token with a spending limit can only plan and run jobs",
                "use your own token: souk login NAME");
  if (access == Access::operator_ && token->scope != Scope::operator_)
    return fail(Code::forbidden, "this is for operators", "ask the operator of this market");
  if (!per_account_.take(to_string(token->account), clock_.now()).allowed)
    return fail(Code::exhausted, "too many requests from this account", "wait a little");
  return market::Actor{.account = token->account,
                       .scope = token->scope,
                       .machine = token->machine,
                       .token = token->scope == Scope::spend ? token->id : base::TokenId()};
}

void Authentication::charge(base::AccountId account, std::int64_t requests) {
  per_account_.charge(to_string(account), clock_.now(), requests);
}

}  // namespace souk::server
