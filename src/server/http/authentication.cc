#include "server/http/authentication.h"

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

Authentication::Authentication(const base::Clock& clock, int requests_per_second)
    : clock_(clock), per_account_(per_second(requests_per_second), kRememberedAccounts) {}

Result<market::Actor> Authentication::actor_of(const Core::Turn& turn, ApiCall& call) {
  const auto& digest = call.credential.token;
  const auto* token = digest ? turn.state().find_token(*digest, turn.now()) : nullptr;
  if (token == nullptr && call.credential.cookie) call.reply.drop_cookie();
  if (token == nullptr)
    return fail(Code::unauthenticated, "the token is unknown, revoked or expired",
                "log in again: souk login NAME");
  const auto access = call.route->access;
  if (token->scope == Scope::machine && access != Access::agent && access != Access::everybody)
    return fail(Code::forbidden, "a machine's token acts for its machine only",
                "use your own token");
  if (access == Access::operator_ && token->scope != Scope::operator_)
    return fail(Code::forbidden, "this is for operators", "ask the operator of this market");
  if (!per_account_.take(to_string(token->account), clock_.now()).allowed)
    return fail(Code::exhausted, "too many requests from this account", "wait a little");
  return market::Actor{token->account, token->scope, token->machine};
}

}  // namespace souk::server
