#include <fmt/format.h>

#include <optional>

#include "blob/folder.h"
#include "server/http/app_on_files.h"
#include "wire/api_json.h"

// The routes of training: a worker's agent asks for units, pulls parameters and pushes updates; a
// job's owner watches. The core says who may; the hub (src/hub) does it on the file threads; what
// was accepted goes back to the core, which pays for it.

namespace souk::server {

using base::Code;
using base::fail;
using market::Actor;

// Whose unit a call is about, as the core saw it.
struct App::Worker {
  base::JobId job;
  base::LeaseId lease;
  std::int32_t epoch = 0;
  std::int32_t workers = 1;
  std::string work;  // Of the job, if the hub has not opened it yet.

  [[nodiscard]] Result<std::shared_ptr<hub::Run>> run(hub::Hub& hub) const {
    if (auto found = hub.find(job)) return found;
    SOUK_ASSIGN(const auto batch, wire::from_json<wire::Batch>(work));
    if (!batch.train) return fail(Code::conflict, "the job trains nothing");
    return hub.open(job, *batch.train, workers);
  }
};

Result<App::Worker> App::worker_of(const market::State& s, const Actor& actor, const Call& call,
                                   std::int32_t epoch) const {
  SOUK_ASSIGN(const auto* l, lease_for(s, actor, call.params[0], true));
  if (l->epoch != epoch || l->state == market::LeaseState::closed)
    return fail(Code::conflict, "the lease is closed", "stop this work: it is no longer paid");
  const auto& job = s.jobs.at(l->job);
  if (!market::paid_by_work(job))
    return fail(Code::conflict, fmt::format("job {} trains nothing", to_string(job.id)));
  Worker out{job.id, l->id, epoch, job.terms.workers.max, {}};
  if (!services_.hub.find(job.id)) out.work = job.work;
  return out;
}

void App::serve_unit(CallPtr call) {
  struct Seen {
    Worker worker;
    wire::UnitAsk ask;
  };
  on_files(
      std::move(call),
      [this](const market::State& s, const Actor& actor, Call& c) -> Result<Seen> {
        SOUK_ASSIGN(auto ask, wire::from_json<wire::UnitAsk>(c.http.body));
        SOUK_ASSIGN(auto worker, worker_of(s, actor, c, ask.epoch));
        return Seen{std::move(worker), std::move(ask)};
      },
      [this](Call&, const Seen& seen) -> Result<net::Response> {
        SOUK_ASSIGN(const auto run, seen.worker.run(services_.hub));
        SOUK_ASSIGN(const auto unit, run->next(seen.worker.lease, seen.ask.holds, seen.ask.spent));
        // A hub that ended just before a crash could not say so then.
        if (unit.kind == base::UnitKind::finish) report_end(seen.worker.job, run);
        return as_json(wire::to_json(unit));
      });
}

void App::serve_unit_piece(CallPtr call) {
  struct Seen {
    Worker worker;
    std::int64_t unit, offset;
  };
  on_files(
      std::move(call),
      [this](const market::State& s, const Actor& actor, Call& c) -> Result<Seen> {
        SOUK_ASSIGN(const auto epoch, number_in(c.http, "epoch", 0));
        SOUK_ASSIGN(const auto offset, number_in(c.http, "offset", 0));
        SOUK_ASSIGN(const auto unit, number_of(c.params[1], "unit"));
        SOUK_ASSIGN(auto worker, worker_of(s, actor, c, static_cast<std::int32_t>(epoch)));
        return Seen{std::move(worker), unit, offset};
      },
      [this](Call& c, const Seen& seen) -> Result<net::Response> {
        SOUK_ASSIGN(const auto run, seen.worker.run(services_.hub));
        SOUK_ASSIGN(const auto size,
                    run->receive(seen.worker.lease, seen.unit, seen.offset, c.http.body));
        return as_json(wire::to_json(wire::LogSize{size}));
      });
}

void App::serve_unit_done(CallPtr call) {
  on_core(std::move(call), [this](Core::Turn& turn, CallPtr c) {
    wire::UnitDone done;
    std::int64_t unit = 0;
    const auto worker = [&]() -> Result<Worker> {
      SOUK_ASSIGN(const auto actor, authenticate(turn, *c));
      SOUK_TRY(check_call(*c));
      SOUK_ASSIGN(done, wire::from_json<wire::UnitDone>(c->http.body));
      SOUK_ASSIGN(unit, number_of(c->params[1], "unit"));
      return worker_of(turn.state(), actor, *c, done.epoch);
    }();
    if (!worker) return reply_after(turn, std::move(c), problem(worker.error()));
    auto holder = std::make_shared<CallPtr>(std::move(c));
    const bool taken = files_.post([this, holder, worker = *worker, done, unit] {
      const auto judged = [&]() -> Result<hub::Run::Judged> {
        SOUK_ASSIGN(const auto run, worker.run(services_.hub));
        SOUK_ASSIGN(auto out, run->complete(worker.lease, unit, done));
        report_end(worker.job, run);
        return out;
      }();
      if (!judged) return (*holder)->reply.send(problem(judged.error()));
      auto response = as_json(wire::to_json(judged->verdict));
      if (judged->paid.empty()) return (*holder)->reply.send(std::move(response));
      on_core(std::move(*holder), [all = judged->paid, response](Core::Turn& paying, CallPtr paid) {
        // Refused only when the lease was closed meanwhile; then its last interval is
        // settled.
        for (const auto& p : all)
          (void)paying.execute(market::kSystem, market::AcceptWork{p.lease, p.epoch, p.worked});
        reply_after(paying, std::move(paid), response);
      });
    });
    if (!taken)
      (*holder)->reply.send(
          problem(base::Error{Code::unavailable, "too many updates are moving", "try again"}));
  });
}

void App::serve_parameters(CallPtr call) {
  struct Seen {
    Worker worker;
    std::int64_t since;
    std::optional<std::int64_t> version;
  };
  on_files(
      std::move(call),
      [this](const market::State& s, const Actor& actor, Call& c) -> Result<Seen> {
        SOUK_ASSIGN(const auto epoch, number_in(c.http, "epoch", 0));
        SOUK_ASSIGN(const auto since, number_in(c.http, "since", -1));
        SOUK_ASSIGN(const auto version, number_in(c.http, "version", -1));
        SOUK_ASSIGN(auto worker, worker_of(s, actor, c, static_cast<std::int32_t>(epoch)));
        return Seen{std::move(worker), since, version < 0 ? std::nullopt : std::optional(version)};
      },
      [this](Call&, const Seen& seen) -> Result<net::Response> {
        SOUK_ASSIGN(const auto run, seen.worker.run(services_.hub));
        SOUK_ASSIGN(auto bytes, run->pull(seen.worker.lease, seen.since, seen.version));
        return as_bytes(std::move(bytes));
      });
}

void App::serve_training(CallPtr call) {
  struct Seen {
    base::JobId job;
    std::string result;
  };
  on_files(
      std::move(call),
      [](const market::State& s, const Actor& actor, Call& c) -> Result<Seen> {
        SOUK_ASSIGN(const auto* job, job_for(s, actor, c.params[0]));
        if (!market::paid_by_work(*job))
          return fail(Code::conflict, fmt::format("job {} trains nothing", c.params[0]));
        return Seen{job->id, job->result};
      },
      [this](Call&, const Seen& seen) -> Result<net::Response> {
        if (const auto run = services_.hub.find(seen.job))
          return as_json(wire::to_json(run->view()));
        if (seen.result.empty()) return as_json(wire::to_json(wire::Training{}));
        SOUK_ASSIGN(const auto root, blob::parse_digest(seen.result));
        SOUK_ASSIGN(const auto manifest, blob::read_manifest(root, *services_.blobs));
        SOUK_ASSIGN(auto text, blob::read_file(manifest, "metrics.json", *services_.blobs));
        return as_json(std::move(text));
      });
}

// Tells the market once a training is over. Harmless when repeated.
void App::report_end(base::JobId job, const std::shared_ptr<hub::Run>& run) {
  const auto ended = run->ended();
  if (!ended || !*ended) return;
  core_.post([job, how = **ended](Core::Turn& turn) {
    // Refused only when the job was forgotten meanwhile.
    (void)turn.execute(market::kSystem, market::ReportResult{job, how.result, true, how.reason});
  });
}

void add_training_routes(Routes& routes) {
  routes.special<wire::UnitAsk, wire::Unit>("POST", "/v1/leases/{id}/units", "askUnit",
                                            "Something for a training worker to do", Access::agent,
                                            200);
  auto& piece = routes.special<void, wire::LogSize>(
      "PUT", "/v1/leases/{id}/units/{unit}", "putUnit",
      "A piece of a unit's update (train/update.h)", Access::agent, 200);
  piece.doc.request_media = "application/octet-stream";
  piece.doc.query = {{"epoch", "integer", "Of the lease.", false},
                     {"offset", "integer", "Where the piece belongs.", false}};
  routes.special<wire::UnitDone, wire::UnitVerdict>("POST", "/v1/leases/{id}/units/{unit}",
                                                    "finishUnit", "What became of a unit",
                                                    Access::agent, 200);
  auto& pull =
      routes.special<void, void>("GET", "/v1/leases/{id}/parameters", "getParameters",
                                 "The parameters that changed (train/pull.h)", Access::agent, 200);
  pull.doc.media = "application/octet-stream";
  pull.doc.query = {{"epoch", "integer", "Of the lease.", false},
                    {"since", "integer", "The version that the worker has.", false},
                    {"version", "integer", "This version, which is under check.", false}};
  routes.special<void, wire::Training>("GET", "/v1/jobs/{id}/training", "getTraining",
                                       "How far a training is", Access::user, 200);
}

}  // namespace souk::server
