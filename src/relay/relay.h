#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"

namespace souk::relay {

struct RelayOptions {
  std::string listen_host = "127.0.0.1";
  std::uint16_t listen_port = 0;  // 0: a free one.
  std::string host;               // The one server that it leads to.
  std::uint16_t port = 0;
  std::size_t most_connections = 256;
  base::Duration idle = base::minutes(5);  // A connection in which nothing moves is closed.
  // With which the market signs what lets two machines meet here; none: they do not.
  std::optional<base::Digest> ticket_key = {};
  const base::Clock* clock = nullptr;  // Of tickets.
};

// Carries connections from machines without internet to one server, byte for byte; it opens nothing
// else and reads nothing of what passes. A client may speak to it as if it were the server, or ask
// with CONNECT for that server, as libcurl does with https_proxy, and then check the server's
// certificate itself. CONNECT to anywhere else is refused.
//
// With a key it also joins two machines of a gang that cannot reach each other. Each asks for it:
//   GET /tunnel HTTP/1.1      Authorization: Bearer TICKET (joiner.h)
//     101, then what the other sends · 403 no ticket of this relay's market
//
// One thread runs it; what is connected is carried by another.
class Relay {
 public:
  static base::Result<std::unique_ptr<Relay>> open(RelayOptions options);
  ~Relay();
  [[nodiscard]] std::uint16_t port() const;
  // Until stop(), which any thread may call.
  void run();
  void stop();

 private:
  struct Impl;
  explicit Relay(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace souk::relay
