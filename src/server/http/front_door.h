#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "net/server.h"
#include "server/http/console.h"
#include "server/http/router.h"
#include "server/http/throttle.h"

namespace souk::server {

// Where requests come in: finds the route, throttles by address, reads the credential, bounds the
// body, and hands the call to the route's handler. What is not in the route table is refused, or is
// a page of the console. Thread-safe.
class FrontDoor {
 public:
  explicit FrontDoor(ServerContext& server);

  // Called on I/O threads.
  void handle(net::Request http, net::Reply reply);
  // Called on I/O threads before the body of a request is read: those without a token may send
  // little, and nobody more than the route takes.
  void screen(const net::Request& head, std::optional<std::uint64_t> bytes,
              net::BodyDecision decision);

 private:
  // What no route serves: the console, and refusals. `allowed`: the methods of this path.
  [[nodiscard]] net::Response unrouted(const net::Request& http, const std::string& allowed) const;

  ServerContext& server_;
  const Routes routes_;
  const Console console_;
  Throttle per_address_;
};

}  // namespace souk::server
