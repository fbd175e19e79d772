#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "server/tunnels/exchange.h"
#include "server/tunnels/line_desk.h"

namespace souk::server {

// What the desk must know of a service.
struct ServiceSpec {
  base::JobId job;
  std::int32_t port = 0;
  std::int32_t at_once = 1;  // Requests that one worker gets at a time.
  base::Duration timeout;
};

// Passes requests on to the workers of services: the least busy that can be talked to, one after
// the other on each connection. A request waits while all are busy. One whose worker goes before it
// has answered is given to another, as often as there is one, so a worker may get a request that
// another has begun with. Owns a thread; any thread may call it.
class ServiceDesk {
 public:
  static constexpr std::size_t kMostQueued = 1'000;     // Of one service.
  static constexpr std::size_t kMostBytes = 256 << 20;  // Of all requests that are here.
  static constexpr int kMostTries = 4;

  explicit ServiceDesk(std::shared_ptr<LineDesk> lines);
  ~ServiceDesk();  // Whoever waits is told that the server stops.
  ServiceDesk(const ServiceDesk&) = delete;
  ServiceDesk& operator=(const ServiceDesk&) = delete;

  void serve(const ServiceSpec& service, ServiceRequestPtr request);
  void close();  // As its end does; later requests are refused.

  // What becomes of the workers. Of a lease that no service has nothing happens.
  void began(const ServiceSpec& service, base::LeaseId lease, std::int32_t epoch);
  void drains(base::LeaseId lease);  // It gets no more requests.
  void gone(base::LeaseId lease);
  void ended(base::JobId job);

  struct Load {
    double busy = 0;           // Requests here at a time, on the average since the last call.
    std::int64_t arrived = 0;  // Since then.
  };
  [[nodiscard]] std::map<base::JobId, Load> loads();

  struct Served {
    base::LeaseId lease;
    std::int32_t epoch = 0;
    std::int64_t requests = 0;
  };
  // What was answered since the last call.
  [[nodiscard]] std::vector<Served> take_served();

  // Of a service now: workers that can be talked to, and requests that are here.
  struct Now {
    std::int32_t workers = 0;
    std::int64_t in_work = 0, queued = 0;
  };
  [[nodiscard]] Now now(base::JobId job) const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace souk::server
