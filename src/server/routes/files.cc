#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "server/http/router.h"
#include "server/routes/lookups.h"
#include "wire/api/blob.h"
#include "wire/api/log.h"

// The routes that carry files and logs. The core only says who asks and what they may see; reading
// and writing happens on threads of its own, so that a slow disk delays nobody's market.

namespace souk::server {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kMostAskedNames = 1'000;

// --- Chunks --------------------------------------------------------------------------------------
//
// A name alone gives nobody a right to what it names: an account reads what it brought itself, its
// jobs' results, and what the jobs need that its machines have leases of.

struct NamesAsked {
  base::AccountId account;
  std::vector<std::string> names;
};

Result<NamesAsked> asked_names(Context& c, wire::BlobNames body) {
  if (body.names.size() > kMostAskedNames)
    return fail(Code::too_large, fmt::format("the request has {} names", body.names.size()),
                fmt::format("{} at most in one request", kMostAskedNames), "names");
  return NamesAsked{c.actor.account, std::move(body.names)};
}

Result<wire::BlobNames> missing_names(PoolContext& p, const NamesAsked& asked) {
  wire::BlobNames out;
  for (const auto& name : asked.names) {
    SOUK_ASSIGN(const auto digest, blob::parse_digest(name));
    if (!p.services().claims.has(asked.account, digest)) out.names.push_back(name);
  }
  return out;
}

struct Upload {
  base::AccountId account;
  blob::Digest name;
};

Result<Upload> upload_in_path(Context& c) {
  SOUK_ASSIGN(const auto name, blob::parse_digest(c.param()));
  return Upload{c.actor.account, name};
}

Result<wire::Acknowledged> put_blob(PoolContext& p, const Upload& upload) {
  auto kept = p.services().claims.put(upload.account, upload.name, p.http().body);
  // Damage on our own disk is ours; this is theirs.
  if (!kept && kept.error().code == Code::damaged) kept.error().code = Code::invalid;
  SOUK_TRY(kept);
  return wire::Acknowledged{};
}

struct BlobRead {
  blob::Digest name;
  base::AccountId account;
  bool everything = false;           // An operator reads all.
  std::optional<base::JobId> lease;  // The job of the lease for which it is read.
  std::vector<std::string> results;  // Of the job for which it is read.
  bool direct = false;               // Somebody else may send it.
};

// How long an address is good for that leads to a chunk in the store: for the time between this
// answer and the next request of its reader.
constexpr auto kDirectLasts = base::minutes(2);
// A smaller one is sent sooner than found elsewhere.
constexpr std::uint64_t kDirectBytes = 64 << 10;

Result<BlobRead> read_in_path(Context& c) {
  SOUK_ASSIGN(const auto name, blob::parse_digest(c.param()));
  BlobRead out{.name = name,
               .account = c.actor.account,
               .everything = c.is_operator(),
               .direct = c.query("direct") == "1"};
  if (const auto text = c.query("lease"); !text.empty()) {
    SOUK_ASSIGN(const auto* l, open_lease_for_agent(c, text));
    out.lease = l->job;
    c.turn().liveness().fetched(l->id, c.now());
  }
  if (const auto text = c.query("job"); !text.empty()) {
    const auto id = base::IdTraits<base::JobId>::parse(text);
    const auto* job = id ? c.state().jobs.find(*id) : nullptr;
    if (job == nullptr || !is_owner_of(c.actor, *job)) return Context::no_such("job", text);
    out.results.push_back(job->result);
    for (const auto& part : job->parts) out.results.push_back(part.result);
  }
  return out;
}

bool may_read(Services& services, const BlobRead& read) {
  if (read.everything || services.claims.claimed(read.account, {&read.name, 1})) return true;
  if (read.lease && services.pins.holds(*read.lease, read.name)) return true;
  return std::ranges::any_of(read.results, [&](const std::string& result) {
    const auto root = blob::parse_digest(result);
    return root && std::ranges::binary_search(Pins::names_in(*root, *services.blobs), read.name);
  });
}

Result<net::Response> get_blob(PoolContext& p, const BlobRead& read) {
  if (!may_read(p.services(), read)) return Context::no_such("chunk", to_string(read.name));
  const auto& blobs = *p.services().blobs;
  if (read.direct && blobs.size_of(read.name).value_or(0) >= kDirectBytes)
    if (auto url = blobs.direct_url(read.name, kDirectLasts); !url.empty())
      return net::Response{
          .status = 307,
          .content_type = "",
          .headers = {{"Location", std::move(url)}, {"Cache-Control", "no-store"}}};
  SOUK_ASSIGN(auto bytes, blobs.get(read.name));
  return bytes_response(std::move(bytes));
}

// --- Making room ---------------------------------------------------------------------------------

Result<wire::BlobCleaning> cleaning_asked(Context& c, wire::BlobCleaning body) {
  if (!c.is_operator()) return fail(Code::forbidden, "only operators make room for files");
  if (body.bytes < 0)
    return fail(Code::invalid, fmt::format("'bytes' is {}", body.bytes), "0 or more", "bytes");
  return body;
}

// Writes nothing, so it works on a full disk.
Result<wire::BlobCleaning> clean_blobs(PoolContext& p, const wire::BlobCleaning& asked) {
  SOUK_ASSIGN(const auto freed, p.services().blobs->clean(static_cast<std::uint64_t>(asked.bytes)));
  return wire::BlobCleaning{static_cast<std::int64_t>(freed)};
}

// --- Logs ----------------------------------------------------------------------------------------

struct LogAppend {
  base::JobId job;
  base::LeaseId lease;
  LogOwner owner;
  wire::LogPiece piece;
};

Result<LogAppend> log_append(Context& c, wire::LogPiece piece) {
  SOUK_ASSIGN(const auto* l, lease_for_agent(c));
  if (l->epoch != piece.epoch)
    return fail(Code::conflict, fmt::format("the lease has epoch {}", l->epoch),
                "stop this work: it was given to somebody else", "epoch");
  const LogOwner owner{l->borrower, market::is_final(c.state().jobs.at(l->job).state)};
  return LogAppend{l->job, l->id, owner, std::move(piece)};
}

Result<wire::LogSize> append_log(PoolContext& p, const LogAppend& append) {
  SOUK_ASSIGN(const auto size, p.services().logs.append(append.job, append.lease, append.owner,
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
                                   "Which of these chunks are still to be sent", Access::agent,
                                   &asked_names, &missing_names);
  routes
      .on_files("PUT", "/v1/blobs/{name}", "putBlob",
                "Store a chunk (blob/chunk.h) under the digest of its content", Access::agent,
                &upload_in_path, &put_blob)
      .doc.request_media = "application/octet-stream";
  auto& blob = routes.on_files("GET", "/v1/blobs/{name}", "getBlob",
                               "One chunk: of your own, or what the query gives a right to",
                               Access::agent, &read_in_path, &get_blob);
  blob.doc.media = "application/octet-stream";
  blob.doc.query = {{"lease", "string", "It is needed for this lease of the machine: l1.", false},
                    {"job", "string", "It is a result of this job: j1.", false},
                    {"direct", "string",
                     "1: the answer may be 307 and the address, for two minutes, of the store that "
                     "has the chunk. Send no token there.",
                     false}};
  auto& cleaning = routes.on_files<wire::BlobCleaning>(
      "POST", "/v1/blobs/clean", "cleanBlobs",
      "Operators: remove the files that nobody used for longest and no live job needs, until so "
      "many bytes are free. Answers with what was freed",
      Access::user, &cleaning_asked, &clean_blobs);
  cleaning.doc.idempotency_key = false;  // It may be asked again.
  routes.on_files<wire::LogPiece>("POST", "/v1/leases/{id}/log", "appendLog",
                                  "What the program printed", Access::agent, &log_append,
                                  &append_log);
  auto& log =
      routes.on_files("GET", "/v1/leases/{id}/log", "getLog", "What the program of a lease printed",
                      Access::user, &log_request, &read_log);
  log.doc.query = {{"from", "string", "Where to begin: the `next` of the answer before.", false}};
}

}  // namespace souk::server
