#include <fmt/format.h>

#include "market/limits.h"
#include "server/http/router.h"
#include "server/routes/lookups.h"
#include "wire/api/network.h"

// The routes by which workers of a gang find each other, and meet where they cannot reach each
// other.

namespace souk::server {
namespace {

using base::Code;
using base::fail;

// The open lease of the path, of a gang, for its machine's agent.
Result<const market::Lease*> gang_lease(Context& c) {
  SOUK_ASSIGN(const auto* l, open_lease_for_agent(c, c.param()));
  if (!market::is_gang(c.state().jobs.at(l->job)))
    return fail(Code::conflict, fmt::format("lease {} is not of a gang", c.param()));
  return l;
}

Result<wire::NetworkView> join(Context& c, const wire::NetworkJoin& body) {
  SOUK_ASSIGN(const auto* l, gang_lease(c));
  if (l->epoch != body.epoch)
    return fail(Code::conflict, fmt::format("lease {} has epoch {}", c.param(), l->epoch),
                "stop this work: it was given to somebody else", "epoch");
  if (!blob::parse_digest(body.key))
    return fail(Code::invalid, "'key' is no key", "64 lower-case hex digits", "key");
  if (body.port < 0 || body.port > 65'535)
    return fail(Code::invalid, fmt::format("'port' is {}", body.port), "0 to 65535", "port");
  Switchboard::Seat seat{.key = body.key,
                         .fast_aes = body.fast_aes,
                         .address = c.http().peer.address,
                         .region = c.state().machines.at(l->machine).spec.region};
  // Behind a router the port is another one than the machine knows, if it asks from that port.
  if (body.port != 0) {
    if (c.http().peer.port != 0) seat.ports.push_back(c.http().peer.port);
    if (body.port != c.http().peer.port) seat.ports.push_back(body.port);
  }
  auto& board = c.services().switchboard;
  board.join(*l, std::move(seat));
  return board.view(c.state(), *l, c.now());
}

Result<Continuation> meet(Context& c) {
  SOUK_ASSIGN(const auto* l, gang_lease(c));
  SOUK_ASSIGN(const auto other, c.number("to", -1, 0, market::kPartsMax));
  const auto worker = static_cast<std::int32_t>(other);
  if (!c.services().switchboard.may_meet(c.state(), *l, worker))
    return fail(Code::conflict, fmt::format("worker {} is not there", other), "try again");
  base::LeaseId across;
  for (const auto id : c.state().jobs.at(l->job).leases)
    if (c.state().leases.at(id).part == worker) across = id;
  return Continuation([tunnels = &c.services().tunnels, meeting = meeting_of(l->id, across),
                       side = l->id < across ? 0 : 1](Core::Turn&, ApiCallPtr call) {
    call->reply.hand_over([tunnels, meeting, side](std::unique_ptr<net::Line> line) {
      tunnels->bring(meeting, side, std::move(line));
    });
  });
}

}  // namespace

void add_network_routes(Routes& routes) {
  routes
      .change<wire::NetworkJoin>("PUT", "/v1/leases/{id}/network", "joinNetwork",
                                 "A worker of a gang is there; gives those who are, too",
                                 Access::agent, 200, &join)
      .doc.idempotency_key = false;  // It is said again and again.
  auto& tunnel = routes.waiting<void>(
      "/v1/leases/{id}/tunnel", "meetWorker",
      "A way to another worker of the gang through this server: the connection leaves HTTP (101)",
      Access::agent, &meet);
  tunnel.doc.query = {{"to", "integer", "The other worker.", true}};
  tunnel.doc.status = 101;
  routes
      .change<wire::RelayHere>(
          "PUT", "/v1/relays", "announceRelay", "A relay at which machines of gangs may meet",
          Access::operator_, 200,
          [](Context& c, const wire::RelayHere& body) -> Result<wire::Acknowledged> {
            SOUK_TRY(c.services().switchboard.relay_here(body, c.now()));
            return wire::Acknowledged{};
          })
      .doc.idempotency_key = false;
  routes.get("/v1/relays", "listRelays", "Relays at which machines of gangs may meet",
             Access::operator_, [](Context& c) -> Result<wire::RelayList> {
               return c.services().switchboard.relays(c.now());
             });
}

}  // namespace souk::server
