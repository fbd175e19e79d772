#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "blob/store.h"
#include "net/server.h"
#include "wire/api/sharing.h"

namespace souk::agent {

// Gives chunks of this machine's store to machines that the market sends here: those with leases of
// the same job. Whoever has no ticket of the market for a chunk (blob/share_ticket.h) learns
// nothing, not even whether the chunk is here. With TLS, under a certificate that the market tells
// them. Owns its threads; must not outlive the store.
//
//   GET /chunks/NAME   Authorization: Bearer TICKET
//     200 the encoded chunk · 404 not here, or not yet · 403 no ticket for it
class ChunkServer {
 public:
  // Listens at `place`, ADDRESS:PORT; port 0: any that is free.
  static base::Result<std::unique_ptr<ChunkServer>> start(const std::string& place,
                                                          const blob::Store& store,
                                                          const base::Clock& clock);
  // What the market is to know.
  [[nodiscard]] const wire::ChunkSharing& sharing() const { return sharing_; }

 private:
  ChunkServer(const blob::Store& store, const base::Clock& clock) : store_(store), clock_(clock) {}
  net::Response answer(const net::Request& request) const;

  const blob::Store& store_;
  const base::Clock& clock_;
  blob::Digest key_;
  wire::ChunkSharing sharing_;
  std::unique_ptr<net::Server> server_;  // Last: it stops before the rest goes.
};

}  // namespace souk::agent
