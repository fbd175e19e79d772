#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <optional>

#include "blob/folder.h"
#include "hub/shared_bytes.h"
#include "server/http/router.h"
#include "server/routes/lookups.h"
#include "wire/api/log.h"

// The routes of training: a worker's agent asks for units, pulls parameters and pushes updates; a
// job's owner watches. The core says who may; the hub (src/hub) does it on the file threads; what
// was accepted goes back to the core, which pays for it.

namespace souk::server {
namespace {

using base::Code;
using base::fail;

// Whose unit a call is about, as the core saw it.
struct TrainingWorker {
  base::JobId job;
  base::LeaseId lease;
  base::AccountId borrower, lender;
  std::int32_t workers = 1;
  std::int64_t paid_through = 0;
  std::shared_ptr<const wire::Batch> batch = {};  // If the hub has not opened the job yet.

  [[nodiscard]] Result<std::shared_ptr<hub::Run>> open(hub::Hub& hub) const {
    if (auto found = hub.find(job)) return found;
    if (!batch || !batch->train) return fail(Code::conflict, "the job trains nothing");
    return hub.open(job, *batch->train, workers, paid_through, party(borrower));
  }
};

// A training that cannot be opened, or go on, is its own job's failure: the job ends and says why.
void end_failed(PoolContext& p, base::JobId job, std::string why) {
  constexpr std::size_t most = 500;
  spdlog::error("job {} failed: {}", to_string(job), why);
  if (why.size() > most) why.resize(most);
  p.core().post([job, why = std::move(why)](Core::Turn& turn) {
    (void)turn.execute(market::kSystem, market::ReportResult{job, {}, true, why});
  });
}

// Does the error say that trying again is of no use?
bool is_lasting(const base::Error& error) {
  return error.code == Code::invalid || error.code == Code::damaged ||
         error.code == Code::internal || error.code == Code::too_large;
}

// call(run) for the worker's training.
template <class Call>
auto with_run(PoolContext& p, const TrainingWorker& worker, const Call& call)
    -> decltype(call(std::shared_ptr<hub::Run>())) {
  auto run = worker.open(p.services().hub);
  if (!run) {
    if (is_lasting(run.error())) end_failed(p, worker.job, run.error().message);
    return std::unexpected(std::move(run).error());
  }
  auto result = call(*run);
  if (auto why = (*run)->failure()) end_failed(p, worker.job, *std::move(why));
  return result;
}

// The worker of the path's lease, which must be in this epoch.
Result<TrainingWorker> worker_of(Context& c, std::int64_t epoch) {
  SOUK_ASSIGN(const auto* l, lease_for_agent(c));
  if (l->epoch != epoch || l->state == market::LeaseState::closed)
    return fail(Code::conflict, "the lease is closed", "stop this work: it is no longer paid");
  const auto& job = c.state().jobs.at(l->job);
  if (!market::paid_by_work(job))
    return fail(Code::conflict, fmt::format("job {} trains nothing", to_string(job.id)));
  TrainingWorker out{job.id, l->id, job.owner, l->lender, job.terms.workers.max, job.paid_through};
  if (!c.services().hub.find(job.id)) out.batch = c.services().works.of(job);
  return out;
}

// --- A unit to do --------------------------------------------------------------------------------

struct UnitRequest {
  TrainingWorker worker;
  wire::UnitAsk ask;
};

Result<UnitRequest> unit_request(Context& c, wire::UnitAsk ask) {
  SOUK_ASSIGN(auto worker, worker_of(c, ask.epoch));
  return UnitRequest{std::move(worker), std::move(ask)};
}

Result<wire::Unit> next_unit(PoolContext& p, const UnitRequest& request) {
  const auto& worker = request.worker;
  return with_run(p, worker, [&](const std::shared_ptr<hub::Run>& run) -> Result<wire::Unit> {
    SOUK_ASSIGN(auto unit, run->next(worker.lease, request.ask.holds, request.ask.spent,
                                     worker.lender.value, request.ask.keeps.value_or(0)));
    // A hub that ended just before a crash could not say so then.
    if (unit.kind == base::UnitKind::finish)
      if (const auto ended = run->ended(); ended && *ended)
        p.core().post([&payroll = p.services().payroll, job = worker.job, run, result = **ended](
                          Core::Turn& turn) { payroll.pay_and_end(turn, job, run, result); });
    return unit;
  });
}

// --- A piece of its update -----------------------------------------------------------------------

struct UpdatePiece {
  TrainingWorker worker;
  std::int64_t unit, offset;  // The bytes are the request's body.
};

Result<UpdatePiece> update_piece(Context& c) {
  SOUK_ASSIGN(const auto epoch, number_in(c.http(), "epoch", 0));
  SOUK_ASSIGN(const auto offset, number_in(c.http(), "offset", 0));
  SOUK_ASSIGN(const auto unit, number_of(c.param(1), "unit"));
  SOUK_ASSIGN(auto worker, worker_of(c, epoch));
  return UpdatePiece{std::move(worker), unit, offset};
}

Result<wire::LogSize> receive_piece(PoolContext& p, const UpdatePiece& piece) {
  SOUK_ASSIGN(const auto size, with_run(p, piece.worker, [&](const std::shared_ptr<hub::Run>& run) {
                return run->receive(piece.worker.lease, piece.unit, piece.offset, p.http().body);
              }));
  return wire::LogSize{size};
}

// --- What became of it ---------------------------------------------------------------------------

struct UnitReport {
  TrainingWorker worker;
  std::int64_t unit;
  wire::UnitDone done;
};

Result<UnitReport> unit_report(Context& c, wire::UnitDone done) {
  SOUK_ASSIGN(const auto unit, number_of(c.param(1), "unit"));
  SOUK_ASSIGN(auto worker, worker_of(c, done.epoch));
  return UnitReport{std::move(worker), unit, std::move(done)};
}

struct JudgedUnit {
  base::JobId job;
  std::shared_ptr<hub::Run> run;
  wire::UnitVerdict verdict;
  std::optional<hub::TrainingResult> ended;  // With this unit, or before.
};

Result<JudgedUnit> judge_unit(PoolContext& p, const UnitReport& report) {
  JudgedUnit out{.job = report.worker.job};
  SOUK_ASSIGN(out.verdict, with_run(p, report.worker, [&](const std::shared_ptr<hub::Run>& run) {
                out.run = run;
                return run->complete(report.worker.lease, report.unit, report.done);
              }));
  if (const auto trouble = out.run->trouble())
    spdlog::warn("job {}: {}; it is tried again with the next unit", to_string(out.job),
                 trouble->message);
  // If the result cannot be written, the next worker that asks for a unit tries again.
  if (auto ended = out.run->ended()) out.ended = *std::move(ended);
  return out;
}

// Pay and the end of the job are one task.
Result<wire::UnitVerdict> pay_unit(Context& c, JudgedUnit judged) {
  auto& payroll = c.services().payroll;
  if (judged.ended)
    payroll.pay_and_end(c.turn(), judged.job, judged.run, *judged.ended);
  else
    payroll.pay(c.turn(), judged.run);
  return std::move(judged.verdict);
}

// --- Parameters, and how far it is ---------------------------------------------------------------

struct ParametersRequest {
  TrainingWorker worker;
  hub::PullRequest wanted;
};

Result<ParametersRequest> parameters_request(Context& c) {
  SOUK_ASSIGN(const auto epoch, number_in(c.http(), "epoch", 0));
  hub::PullRequest wanted;
  SOUK_ASSIGN(wanted.since, number_in(c.http(), "since", -1));
  SOUK_ASSIGN(const auto version, number_in(c.http(), "version", -1));
  SOUK_ASSIGN(const auto from, number_in(c.http(), "from", -1));
  SOUK_ASSIGN(const auto at, number_in(c.http(), "at", -1));
  if (version >= 0) wanted.version = version;
  if (from >= 0)
    wanted.piece = hub::PullPiece{.from = static_cast<std::size_t>(from),
                                  .at = at < 0 ? std::nullopt : std::optional(at)};
  SOUK_ASSIGN(auto worker, worker_of(c, epoch));
  return ParametersRequest{std::move(worker), wanted};
}

Result<net::Response> pull(PoolContext& p, const ParametersRequest& request) {
  SOUK_ASSIGN(auto packed, with_run(p, request.worker, [&](const std::shared_ptr<hub::Run>& run) {
                return run->pull(request.worker.lease, request.wanted);
              }));
  return hub::parameters_response(std::move(packed));
}

struct TrainingRequest {
  base::JobId job;
  std::string result;
};

Result<TrainingRequest> training_request(Context& c) {
  SOUK_ASSIGN(const auto* job, job_for(c));
  if (!market::paid_by_work(*job))
    return fail(Code::conflict, fmt::format("job {} trains nothing", c.param()));
  return TrainingRequest{job->id, job->result};
}

constexpr std::uint64_t kMostMetrics = 64 << 20;

Result<JsonText<wire::Training>> show_training(PoolContext& p, const TrainingRequest& request) {
  using Text = JsonText<wire::Training>;
  if (const auto run = p.services().hub.find(request.job)) return Text{wire::to_json(run->view())};
  if (request.result.empty()) return Text{wire::to_json(wire::Training{})};
  const auto& blobs = *p.services().blobs;
  SOUK_ASSIGN(const auto root, blob::parse_digest(request.result));
  SOUK_ASSIGN(const auto manifest, blob::read_manifest(root, blobs));
  SOUK_ASSIGN(auto text, blob::read_file(manifest, "metrics.json", blobs, kMostMetrics));
  return Text{std::move(text)};
}

}  // namespace

void add_training_routes(Routes& routes) {
  routes.on_files<wire::UnitAsk>("POST", "/v1/leases/{id}/units", "askUnit",
                                 "Something for a training worker to do", Access::agent,
                                 &unit_request, &next_unit);
  auto& piece = routes.on_files("PUT", "/v1/leases/{id}/units/{unit}", "putUnit",
                                "A piece of a unit's update (train/update.h)", Access::agent,
                                &update_piece, &receive_piece);
  piece.doc.request_media = "application/octet-stream";
  piece.doc.query = {{"epoch", "integer", "Of the lease.", false},
                     {"offset", "integer", "Where the piece belongs.", false}};
  routes
      .on_files<wire::UnitDone>("POST", "/v1/leases/{id}/units/{unit}", "finishUnit",
                                "What became of a unit", Access::agent, &unit_report, &judge_unit,
                                &pay_unit)
      .numbered = true;
  auto& pulled = routes.on_files("GET", "/v1/leases/{id}/parameters", "getParameters",
                                 "The parameters that changed (train/pull.h)", Access::agent,
                                 &parameters_request, &pull);
  pulled.doc.media = "application/octet-stream";
  pulled.doc.query = {{"epoch", "integer", "Of the lease.", false},
                      {"since", "integer", "The version that the worker has.", false},
                      {"version", "integer", "This version, which is under check.", false},
                      {"from", "integer",
                       "A piece only, from this block on. It says where the next begins.", false},
                      {"at", "integer", "The version of the pieces before, if there were.", false}};
  routes.on_files("GET", "/v1/jobs/{id}/training", "getTraining", "How far a training is",
                  Access::user, &training_request, &show_training);
}

}  // namespace souk::server
