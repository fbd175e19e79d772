#include <fmt/format.h>

#include <algorithm>

#include "server/http/router.h"
#include "server/routes/lookups.h"
#include "wire/api/blob.h"
#include "wire/api/sharing.h"

// The routes by which machines with leases of one job give each other its files.

namespace souk::server {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kMostSharedNames = 100;

Result<wire::Acknowledged> announce(Context& c, const wire::ChunkSharing& body) {
  SOUK_ASSIGN(const auto* machine, machine_for(c, false));
  if (body.port < 1 || body.port > 65'535)
    return fail(Code::invalid, fmt::format("'port' is {}", body.port), "1 to 65535", "port");
  const auto key = blob::parse_digest(body.key);
  if (!key) return fail(Code::invalid, "'key' is no key", "64 lower-case hex digits", "key");
  const auto pin = blob::parse_digest(body.pin);
  if (!pin) return fail(Code::invalid, "'pin' is no SHA-256", "64 lower-case hex digits", "pin");
  c.services().shares.announce(
      machine->id,
      {.address = c.http().peer.address, .port = body.port, .key = *key, .pin = body.pin});
  return wire::Acknowledged{};
}

struct PeersAsked {
  ChunkShares::Asker asker;
  std::vector<base::MachineId> candidates;
  std::vector<std::string> names;
  base::Time now;
};

Result<PeersAsked> asked_peers(Context& c, wire::BlobNames body) {
  SOUK_ASSIGN(const auto* l, open_lease_for_agent(c, c.param()));
  if (body.names.size() > kMostSharedNames)
    return fail(Code::too_large, fmt::format("the request has {} names", body.names.size()),
                fmt::format("{} at most in one request", kMostSharedNames), "names");
  c.turn().liveness().fetched(l->id, c.now());
  PeersAsked out{.asker = {l->job, l->id, l->machine, c.http().peer.address},
                 .names = std::move(body.names),
                 .now = c.now()};
  const auto& s = c.state();
  for (const auto machine : c.services().shares.sharers())
    if (machine.value < s.index.leases_of.size() &&
        std::ranges::any_of(
            s.index.leases_of[machine.value],
            [&](base::LeaseId id) { return s.leases.at(id).job == l->job; }))
      out.candidates.push_back(machine);
  return out;
}

// Of chunks that the lease may not read, and of those that do not exist, nothing is said.
Result<wire::ChunkPeers> find_peers(PoolContext& p, const PeersAsked& asked) {
  wire::ChunkPeers out;
  for (const auto& text : asked.names) {
    SOUK_ASSIGN(const auto name, blob::parse_digest(text));
    if (!p.services().pins.holds(asked.asker.job, name)) continue;
    if (auto peer = p.services().shares.direct(asked.asker, asked.candidates, name, asked.now))
      out.peers.push_back(*std::move(peer));
  }
  return out;
}

}  // namespace

void add_sharing_routes(Routes& routes) {
  routes
      .change<wire::ChunkSharing>(
          "PUT", "/v1/machines/{id}/sharing", "shareChunks",
          "The machine gives files of its jobs to other machines with leases of the same jobs",
          Access::agent, 200, &announce)
      .doc.idempotency_key = false;  // It may be said again.
  routes.on_files<wire::BlobNames>(
      "POST", "/v1/leases/{id}/peers", "findPeers",
      "Which of these chunks of the lease's files another machine has. The rest: GET /v1/blobs",
      Access::agent, &asked_peers, &find_peers);
}

}  // namespace souk::server
