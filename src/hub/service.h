#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/fields.h"
#include "base/result.h"
#include "hub/staging.h"
#include "hub/workers.h"
#include "net/server.h"

// A parameter service: folds updates and hands out parameters over HTTP, as a process of its own.
// Several of them, on one shared store, serve one job together.
//
//   GET  /v1/hub/{job}/parameters?since=VERSION      what changed since (train/pull.h)
//   GET  /v1/hub/{job}/parameters?since=VERSION&from=BLOCK   a piece of that
//   PUT  /v1/hub/{job}/parameters?rule=NAME          begins: the body is the model's floats
//   POST /v1/hub/{job}/fold?id=&base=&epoch=&weight=&at_work=&rule=&workers=&codec=&generation=
//        the body is an update (train/update.h). Params of the rule are given as rule.NAME=VALUE.
//        An id is folded once, however often it is sent. Answers {"version": N}. With a generation
//        it is folded only into parameters that were loaded under it.
//
// An update may also be sent ahead, in pieces, judged, and then folded or dropped:
//
//   PUT    /v1/hub/{job}/updates/{update}?offset=N   a piece; answers {"size": N}, what has arrived
//   GET    /v1/hub/{job}/updates/{update}?codec=&size=FLOATS
//          what there is to know of it (hub/measured.h); from then on it takes no more pieces
//   POST   /v1/hub/{job}/fold?...&staged={update}    folds it instead of a body, and forgets it
//   DELETE /v1/hub/{job}/updates/{update}
//
// Such updates are kept in memory, and large ones in files, so many and so long as StagingLimits
// says.
//
//   GET    /v1/hub/stats                             what this process has carried: ServiceStats
//
// All need "Authorization: Bearer SECRET". With a ticket (hub/ticket.h) instead of the secret, a
// worker may GET the parameters of its job and PUT pieces of its update, and nothing else.

namespace souk::hub {

struct ServiceOptions {
  std::string store;   // As make_store() reads it.
  std::string secret;  // Of at least kLeastSecret characters.
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  int threads = 1;  // For connections.
  std::optional<net::ServerTls> tls = {};
  std::size_t most_body_bytes = std::size_t{256} << 20;
  // Bytes of bodies that are arriving or being folded, all together; then others are refused.
  std::size_t most_arriving = std::size_t{2} << 30;
  WorkerLimits workers = {};
  StagingLimits staging = {};  // Without a folder its most_bytes is most_body_bytes.
};

// Since the process began; `staged` and `staged_bytes` are of this moment.
struct ServiceStats {
  std::int64_t pulls = 0, pulled_bytes = 0;
  std::int64_t pieces = 0, pushed_bytes = 0;
  std::int64_t folds = 0;  // That were asked for and answered, repeated ones included.
  std::int64_t staged = 0, staged_bytes = 0;
  SOUK_FIELDS(ServiceStats, pulls, pulled_bytes, pieces, pushed_bytes, folds, staged, staged_bytes)
};

inline constexpr std::size_t kLeastSecret = 16;

// Serves until it goes. Thread-safe.
class Service {
 public:
  // Refuses a store that cannot be reached.
  static base::Result<std::unique_ptr<Service>> start(ServiceOptions options);
  ~Service();

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] int workers() const;
  [[nodiscard]] ServiceStats stats() const;

 private:
  struct Impl;
  explicit Service(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace souk::hub
