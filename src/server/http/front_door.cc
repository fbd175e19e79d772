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

// What a request proves itself with and is remembered by. An error: it goes no further.
Result<> admit(ApiCall& call) {
  SOUK_ASSIGN(call.credential, credential_of(call.http));
  const auto& doc = call.route->doc;
  if (call.http.body.size() > kMostBody && doc.request_media.empty())
    return fail(Code::too_large, fmt::format("a body of {} bytes", call.http.body.size()),
                fmt::format("{} at most here", kMostBody));
  if (call.route->access != Access::everybody && !call.credential.token)
    return fail(Code::unauthenticated, "this needs a token", "send Authorization: Bearer TOKEN");
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
  if (auto refused = per_address_.refuse(http.peer.address)) return reply.send(*std::move(refused));
  auto match = routes_.find(http);
  if (match.route == nullptr) return reply.send(unrouted(http, match.allowed));
  auto call = std::make_unique<ApiCall>(std::move(http), std::move(reply), match.route,
                                        std::move(match.params));
  if (const auto admitted = admit(*call); !admitted)
    return call->reply.send(problem(admitted.error()));
  match.route->serve(server_, std::move(call));
}

}  // namespace souk::server
