#include <fmt/format.h>

#include "base/text.h"
#include "server/http/router.h"
#include "server/routes/lookups.h"

// The routes that carry files and logs. The core only says who asks and what they may see; reading
// and writing happens on threads of its own, so that a slow disk delays nobody's market.

namespace souk::server {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kMostNames = 1'000;

// --- Chunks --------------------------------------------------------------------------------------

Result<wire::BlobNames> asked_names(Context&, wire::BlobNames body) { return body; }

Result<wire::BlobNames> missing_names(PoolContext& p, const wire::BlobNames& asked) {
  if (asked.names.size() > kMostNames)
    return fail(Code::too_large, fmt::format("{} names", asked.names.size()),
                fmt::format("{} at most in one request", kMostNames), "names");
  wire::BlobNames out;
  for (const auto& name : asked.names) {
    SOUK_ASSIGN(const auto digest, blob::parse_digest(name));
    if (!p.services().blobs->has(digest)) out.names.push_back(name);
  }
  return out;
}

Result<blob::Digest> name_in_path(Context& c) { return blob::parse_digest(c.param()); }

Result<wire::Acknowledged> put_blob(PoolContext& p, const blob::Digest& name) {
  auto kept = p.services().blobs->put(name, p.http().body);
  // Damage on our own disk is ours; this is theirs.
  if (!kept && kept.error().code == Code::damaged) kept.error().code = Code::invalid;
  SOUK_TRY(kept);
  return wire::Acknowledged{};
}

Result<net::Response> get_blob(PoolContext& p, const blob::Digest& name) {
  SOUK_ASSIGN(auto bytes, p.services().blobs->get(name));
  return bytes_response(std::move(bytes));
}

// --- Logs ----------------------------------------------------------------------------------------

struct LogAppend {
  base::JobId job;
  base::LeaseId lease;
  wire::LogPiece piece;
};

Result<LogAppend> log_append(Context& c, wire::LogPiece piece) {
  SOUK_ASSIGN(const auto* l, lease_for_agent(c));
  if (l->epoch != piece.epoch)
    return fail(Code::conflict, fmt::format("the lease has epoch {}", l->epoch),
                "stop this work: it was given to somebody else", "epoch");
  return LogAppend{l->job, l->id, std::move(piece)};
}

Result<wire::LogSize> append_log(PoolContext& p, const LogAppend& append) {
  SOUK_ASSIGN(const auto size, p.services().logs.append(append.job, append.lease,
                                                        append.piece.offset, append.piece.text));
  return wire::LogSize{size};
}

struct LogRequest {
  base::JobId job;
  base::LeaseId lease;
  bool closed;
  std::int64_t from;
};

Result<LogRequest> log_request(Context& c) {
  SOUK_ASSIGN(const auto* l, lease_for_reader(c));
  SOUK_ASSIGN(const auto from, number_in(c.http(), "from", 0));
  return LogRequest{l->job, l->id, l->state == market::LeaseState::closed, from};
}

Result<wire::Log> read_log(PoolContext& p, const LogRequest& request) {
  SOUK_ASSIGN(auto text, p.services().logs.read(request.job, request.lease, request.from));
  text.resize(base::whole_characters(text));  // The rest comes with the next piece.
  const auto next = request.from + std::ssize(text);
  const bool ended = request.closed && text.empty();
  return wire::Log{request.lease, std::move(text), next, ended};
}

}  // namespace

void add_file_routes(Routes& routes) {
  routes.on_files<wire::BlobNames>("POST", "/v1/blobs/missing", "missingBlobs",
                                   "Which of these chunks the server lacks", Access::agent,
                                   &asked_names, &missing_names);
  routes
      .on_files("PUT", "/v1/blobs/{name}", "putBlob",
                "Store a chunk (blob/chunk.h) under the digest of its content", Access::agent,
                &name_in_path, &put_blob)
      .doc.request_media = "application/octet-stream";
  routes
      .on_files("GET", "/v1/blobs/{name}", "getBlob", "One chunk", Access::agent, &name_in_path,
                &get_blob)
      .doc.media = "application/octet-stream";
  routes.on_files<wire::LogPiece>("POST", "/v1/leases/{id}/log", "appendLog",
                                  "What the program printed", Access::agent, &log_append,
                                  &append_log);
  auto& log =
      routes.on_files("GET", "/v1/leases/{id}/log", "getLog", "What the program of a lease printed",
                      Access::user, &log_request, &read_log);
  log.doc.query = {{"from", "string", "Where to begin: the `next` of the answer before.", false}};
}

}  // namespace souk::server
