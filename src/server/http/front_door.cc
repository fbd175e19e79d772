#include "server/http/front_door.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "server/http/responses.h"
#include "server/http/session_cookie.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kMostBody = 1 << 20;  // Of JSON; a chunk of a file may be larger.
// Without a token, or before anybody has looked whether the token is good.
constexpr std::size_t kMostStrangersBody = 16 << 10;

std::size_t most_body(const Route& route) {
  if (!route.doc.request_media.empty()) return blob::kMostEncodedBytes;
  return route.access == Access::everybody ? kMostStrangersBody : kMostBody;
}

Result<> check_size(const Route& route, std::uint64_t bytes) {
  if (bytes <= most_body(route)) return {};
  return fail(Code::too_large, fmt::format("the body has {} bytes", bytes),
              fmt::format("{} at most here", most_body(route)));
}

// Who sent it, as far as trusted proxies tell.
std::string sender_of(const net::Request& http, const net::AddressRanges& trusted) {
  if (trusted.empty()) return http.peer.address;
  std::string hops;
  for (const auto& [name, value] : http.headers)
    if (net::equal_ignoring_case(name, "X-Forwarded-For"))
      hops += (hops.empty() ? "" : ",") + value;
  return net::sender_of(http.peer.address, hops, trusted);
}

base::Failure no_token() {
  return fail(Code::unauthenticated, "this needs a token", "send Authorization: Bearer TOKEN");
}

// What a request proves itself with and is remembered by. An error: it goes no further.
Result<> admit(ApiCall& call) {
  SOUK_ASSIGN(call.credential, credential_of(call.http));
  const auto& doc = call.route->doc;
  SOUK_TRY(check_size(*call.route, call.http.body.size()));
  if (call.route->access != Access::everybody && !call.credential.token) return no_token();
  if (doc.idempotency_key) {
    call.key = std::string(call.http.header("Idempotency-Key"));
    call.fingerprint =
        base::short_hash(call.http.method + "\n" + call.http.target + "\n" + call.http.body);
  }
  return {};
}

}  // namespace

FrontDoor::FrontDoor(ServerContext& server)
    : server_(server),
      routes_(all_routes()),
      console_(built_in_console()),
      per_address_(per_second(server.options.requests_per_second), server.clock) {}

net::Response FrontDoor::unrouted(const net::Request& http, const std::string& allowed) const {
  const bool api = http.path == "/v1" || http.path.starts_with("/v1/");
  if (allowed.empty() && api) return problem(404, "there is no such resource");
  const bool read = http.method == "GET" || http.method == "HEAD";
  if (allowed.empty() && read) return console_.answer(http);
  const auto methods = allowed.empty() ? "GET, HEAD" : allowed;
  auto response = problem(405, "use " + methods);
  response.headers.emplace_back("Allow", methods);
  return response;
}

void FrontDoor::handle(net::Request http, net::Reply net_reply) {
  ApiReply reply(std::move(net_reply), came_securely(http, server_.options.tls));
  if (auto sender = sender_of(http, server_.options.trusted_proxies); sender != http.peer.address) {
    http.peer.address = std::move(sender);
    http.peer.port = 0;
  }
  if (auto refused = per_address_.refuse(net::address_key(http.peer.address)))
    return reply.send(*std::move(refused));
  auto match = routes_.find(http);
  if (match.route == nullptr) return reply.send(unrouted(http, match.allowed));
  auto call = std::make_unique<ApiCall>(std::move(http), std::move(reply), match.route,
                                        std::move(match.params));
  if (const auto admitted = admit(*call); !admitted)
    return call->reply.send(problem(admitted.error()));
  match.route->serve(server_, std::move(call));
}

void FrontDoor::screen(const net::Request& head, std::optional<std::uint64_t> bytes,
                       net::BodyDecision decision) {
  const auto match = routes_.find(head);
  if (match.route == nullptr) return decision.refuse(api_answer(unrouted(head, match.allowed)));
  const auto& route = *match.route;
  const auto most = most_body(route);
  const auto credential = credential_of(head);
  Result<> ok = check_size(route, bytes.value_or(0));
  if (!credential)
    ok = std::unexpected(credential.error());
  else if (route.access != Access::everybody && !credential->token)
    ok = no_token();
  if (!ok) return decision.refuse(api_answer(problem(ok.error())));
  if (bytes.value_or(most) <= kMostStrangersBody) return decision.read(most);
  // More than that is worth asking the core whose token it is, and is counted while it is here.
  server_.core.post([this, token = *credential->token, most, size = bytes.value_or(most),
                     decision = std::move(decision)](Core::Turn& turn) mutable {
    const auto* known = turn.state().find_token(token, turn.now());
    if (known == nullptr) return decision.refuse(api_answer(problem(unknown_token().error())));
    auto share = base::BudgetShare::take(server_.services.budgets.request_bytes,
                                         party(known->account), size);
    if (!share) return decision.refuse(api_answer(refusal(share.error())));
    decision.read(most, std::make_shared<base::BudgetShare>(*std::move(share)));
  });
}

}  // namespace souk::server
