#include "server/http/router.h"

// Health, metrics, events and the API's own description: all served by App (app.cc).

namespace souk::server {

void add_system_routes(Routes& routes) {
  routes.special<void, wire::Health>("GET", "/healthz", "getHealth", "The process answers",
                                     Access::everybody, 200);
  routes.special<void, wire::Health>("GET", "/readyz", "getReady",
                                     "The market takes requests: its core and journal keep up",
                                     Access::everybody, 200);
  routes
      .special<void, void>("GET", "/metrics", "getMetrics",
                           "Prometheus metrics, for loopback and operators", Access::everybody, 200)
      .doc.media = "text/plain";
  routes
      .special<void, void>("GET", "/v1/openapi.json", "getOpenApi", "This document",
                           Access::everybody, 200)
      .doc.media = "application/json";
  auto& events = routes.special<void, wire::Notices>(
      "GET", "/v1/events", "getEvents",
      "What happens, as it happens: server-sent events, or with Accept: application/json a long "
      "poll",
      Access::user, 200);
  events.doc.query = {{"after", "string", "The number of the last event seen.", false},
                      {"wait", "string", "Long poll: how long to wait at most, 30s.", false}};
}

}  // namespace souk::server
