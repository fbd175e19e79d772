#include "wire/api/system.h"
#include "server/http/router.h"
#include "server/http/version.h"

// Health and the API's own description.

namespace souk::server {
namespace {

net::Response health(wire::HealthStatus status, std::uint64_t events,
                     std::optional<bool> new_market = {}) {
  return json_response(
      wire::to_json(wire::Health{status, std::string(kVersion), events, new_market}));
}

void serve_health(ServerContext& server, ApiCallPtr call) {
  call->reply.send(health(wire::HealthStatus::ok, server.core.counters().events));
}

void serve_ready(ServerContext& server, ApiCallPtr call) {
  to_core(server, std::move(call), [](Core::Turn& turn, ApiCallPtr c) {
    const auto& s = turn.state();
    answer_after(turn, std::move(c),
                 health(wire::HealthStatus::ready, s.events, s.accounts.size() == 0));
  });
}

void serve_openapi(ServerContext&, ApiCallPtr call) {
  static const auto document = all_routes().openapi();
  call->reply.send(json_response(document));
}

}  // namespace

void add_system_routes(Routes& routes) {
  routes.on_io<void, wire::Health>("GET", "/healthz", "getHealth", "The process answers",
                                   Access::everybody, &serve_health);
  routes.on_io<void, wire::Health>("GET", "/readyz", "getReady",
                                   "The market takes requests: its core and journal keep up",
                                   Access::everybody, &serve_ready);
  routes
      .on_io<void, void>("GET", "/v1/openapi.json", "getOpenApi", "This document",
                         Access::everybody, &serve_openapi)
      .doc.media = "application/json";
}

}  // namespace souk::server
