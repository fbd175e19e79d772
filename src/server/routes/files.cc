#include <fmt/format.h>

#include "base/text.h"
#include "server/http/app_on_files.h"

// The routes that carry files and logs. The core only says who asks and what they may see; reading
// and writing happens on threads of its own, so that a slow disk delays nobody's market.

namespace souk::server {
namespace {

using base::Code;
using base::fail;
using market::Actor;

constexpr std::size_t kMostNames = 1'000;

}  // namespace

// The lease a route is about, for its machine's agent or for those it concerns.
Result<const market::Lease*> lease_for(const market::State& s, const Actor& actor,
                                       const std::string& text, bool as_agent) {
  const auto id = base::IdTraits<base::LeaseId>::parse(text);
  const auto* l = id ? s.leases.find(*id) : nullptr;
  if (l == nullptr) return Context::no_such("lease", text);
  const bool agent = actor.scope == market::Scope::machine ? actor.machine == l->machine
                                                           : actor.account == l->lender;
  const bool reader = actor.scope != market::Scope::machine &&
                      (actor.account == l->borrower || actor.scope == market::Scope::operator_);
  if (as_agent ? agent : reader) return l;
  return Context::no_such("lease", text);
}

Result<const market::Job*> job_for(const market::State& s, const Actor& actor,
                                   const std::string& text) {
  const auto id = base::IdTraits<base::JobId>::parse(text);
  const auto* job = id ? s.jobs.find(*id) : nullptr;
  if (job == nullptr || !(job->owner == actor.account || actor.scope == market::Scope::operator_))
    return Context::no_such("job", text);
  return job;
}

Result<std::int64_t> number_of(const std::string& text, std::string_view name) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc{} && end == text.data() + text.size() && out >= 0) return out;
  return fail(Code::invalid, fmt::format("'{}' is '{}'", name, text.substr(0, 40)),
              "use a whole number", std::string(name));
}

Result<std::int64_t> number_in(const net::Request& http, std::string_view name,
                               std::int64_t otherwise) {
  const auto text = http.param(name);
  return text ? number_of(std::string(*text), name) : otherwise;
}

void App::serve_missing_blobs(CallPtr call) {
  on_files(
      std::move(call),
      [](const market::State&, const Actor&, Call& c) {
        return wire::from_json<wire::BlobNames>(c.http.body);
      },
      [this](Call&, const wire::BlobNames& body) -> Result<net::Response> {
        if (body.names.size() > kMostNames)
          return fail(Code::too_large, fmt::format("{} names", body.names.size()),
                      fmt::format("{} at most in one request", kMostNames), "names");
        wire::BlobNames out;
        for (const auto& name : body.names) {
          SOUK_ASSIGN(const auto digest, blob::parse_digest(name));
          if (!services_.blobs->has(digest)) out.names.push_back(name);
        }
        return as_json(wire::to_json(out));
      });
}

void App::serve_put_blob(CallPtr call) {
  on_files(
      std::move(call),
      [](const market::State&, const Actor&, Call& c) { return blob::parse_digest(c.params[0]); },
      [this](Call& c, const blob::Digest& name) -> Result<net::Response> {
        auto kept = services_.blobs->put(name, c.http.body);
        // Damage on our own disk is ours; this is theirs.
        if (!kept && kept.error().code == Code::damaged) kept.error().code = Code::invalid;
        SOUK_TRY(kept);
        return as_json(wire::to_json(wire::Acknowledged{}));
      });
}

void App::serve_get_blob(CallPtr call) {
  on_files(
      std::move(call),
      [](const market::State&, const Actor&, Call& c) { return blob::parse_digest(c.params[0]); },
      [this](Call&, const blob::Digest& name) -> Result<net::Response> {
        SOUK_ASSIGN(auto bytes, services_.blobs->get(name));
        return as_bytes(std::move(bytes));
      });
}

void App::serve_append_log(CallPtr call) {
  struct Seen {
    base::JobId job;
    base::LeaseId lease;
    wire::LogPiece piece;
  };
  on_files(
      std::move(call),
      [](const market::State& s, const Actor& actor, Call& c) -> Result<Seen> {
        SOUK_ASSIGN(auto piece, wire::from_json<wire::LogPiece>(c.http.body));
        SOUK_ASSIGN(const auto* l, lease_for(s, actor, c.params[0], true));
        if (l->epoch != piece.epoch)
          return fail(Code::conflict, fmt::format("the lease has epoch {}", l->epoch),
                      "stop this work: it was given to somebody else", "epoch");
        return Seen{l->job, l->id, std::move(piece)};
      },
      [this](Call&, const Seen& seen) -> Result<net::Response> {
        SOUK_ASSIGN(const auto size, services_.logs.append(seen.job, seen.lease, seen.piece.offset,
                                                           seen.piece.text));
        return as_json(wire::to_json(wire::LogSize{size}));
      });
}

void App::serve_log(CallPtr call) {
  struct Seen {
    base::JobId job;
    base::LeaseId lease;
    bool closed;
    std::int64_t from;
  };
  on_files(
      std::move(call),
      [](const market::State& s, const Actor& actor, Call& c) -> Result<Seen> {
        SOUK_ASSIGN(const auto* l, lease_for(s, actor, c.params[0], false));
        SOUK_ASSIGN(const auto from, number_in(c.http, "from", 0));
        return Seen{l->job, l->id, l->state == market::LeaseState::closed, from};
      },
      [this](Call&, const Seen& seen) -> Result<net::Response> {
        SOUK_ASSIGN(auto text, services_.logs.read(seen.job, seen.lease, seen.from));
        text.resize(base::whole_characters(text));  // The rest comes with the next piece.
        const auto next = seen.from + std::ssize(text);
        const bool ended = seen.closed && text.empty();
        return as_json(wire::to_json(wire::Log{seen.lease, std::move(text), next, ended}));
      });
}

void App::serve_challenge(CallPtr call) {
  struct Seen {
    base::MachineId machine;
    Challenges::Asked asked;
    base::Duration took;
    std::string checksum;
  };
  on_files(
      std::move(call),
      [this](const market::State& s, const Actor& actor, Call& c) -> Result<Seen> {
        SOUK_ASSIGN(const auto body, wire::from_json<wire::ChallengeAnswer>(c.http.body));
        SOUK_ASSIGN(const auto* machine, machine_for(s, actor, c, false));
        std::uint64_t seed = 0;
        std::from_chars(body.seed.data(), body.seed.data() + body.seed.size(), seed);
        const auto asked = services_.challenges.take(machine->id, seed);
        if (!asked)
          return fail(Code::conflict, "nothing of that kind was asked",
                      "answer each challenge once", "seed");
        return Seen{machine->id, *asked, clock_.now() - asked->at, body.checksum};
      },
      [this](Call&, const Seen& seen) -> Result<net::Response> {
        const auto right = base::answer(seen.asked.challenge, 1);
        std::string failure;
        if (!right || right->checksum != seen.checksum)
          failure = "its answer to a challenge was wrong";
        else if (seen.took > Challenges::kTime + Challenges::kSlack)
          failure = fmt::format("a challenge took it {}", to_string(seen.took));
        core_.post([machine = seen.machine, failure](Core::Turn& turn) {
          // Refused only when the machine was removed meanwhile.
          (void)turn.execute(market::kSystem, market::JudgeMachine{machine, failure});
        });
        return as_json(wire::to_json(wire::Acknowledged{failure.empty()}));
      });
}

void add_file_routes(Routes& routes) {
  routes.special<wire::BlobNames, wire::BlobNames>("POST", "/v1/blobs/missing", "missingBlobs",
                                                   "Which of these chunks the server lacks",
                                                   Access::agent, 200);
  auto& put = routes.special<void, wire::Acknowledged>(
      "PUT", "/v1/blobs/{name}", "putBlob",
      "Store a chunk (blob/chunk.h) under the digest of its content", Access::agent, 200);
  put.doc.request_media = "application/octet-stream";
  auto& get = routes.special<void, void>("GET", "/v1/blobs/{name}", "getBlob", "One chunk",
                                         Access::agent, 200);
  get.doc.media = "application/octet-stream";
  routes.special<wire::LogPiece, wire::LogSize>("POST", "/v1/leases/{id}/log", "appendLog",
                                                "What the program printed", Access::agent, 200);
  routes.special<wire::ChallengeAnswer, wire::Acknowledged>(
      "POST", "/v1/machines/{id}/challenge", "answerChallenge",
      "The result of a computation that a heartbeat's answer asked for", Access::agent, 200);
  auto& log =
      routes.special<void, wire::Log>("GET", "/v1/leases/{id}/log", "getLog",
                                      "What the program of a lease printed", Access::user, 200);
  log.doc.query = {{"from", "string", "Where to begin: the `next` of the answer before.", false}};
}

}  // namespace souk::server
