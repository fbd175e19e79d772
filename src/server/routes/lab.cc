#include <fmt/format.h>

#include "server/http/router.h"
#include "server/lab/lab_runs.h"
#include "server/routes/views.h"
#include "wire/api/answer.h"
#include "wire/api/lab.h"

// The routes of the lab: experiments that the server computes for whoever asks, and this market's
// own history under other mechanisms. The core only says who asks; nothing here waits for what
// computes.

namespace souk::server {
namespace {

using base::Code;
using base::fail;
using wire::LabRunId;
using wire::LabState;

// The page may show itself and nothing else: it holds names that people chose. The console frames
// it.
constexpr const char* kReportPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

LabRuns::Ticket ticket_of(const PoolContext& p) { return {p.call().key, p.call().fingerprint}; }

// Whose runs a request is about. The lab knows nothing of the market.
Result<base::AccountId> asker(Context& c) { return c.actor.account; }

struct RunRequest {
  base::AccountId account;
  LabRunId id;
};

Result<RunRequest> run_request(Context& c) {
  SOUK_ASSIGN(const auto id, c.id<LabRunId>());
  return RunRequest{c.actor.account, id};
}

// --- New runs ------------------------------------------------------------------------------------

struct ScenarioRequest {
  base::AccountId account;
  wire::NewLabRun run;
};

Result<ScenarioRequest> scenario_request(Context& c, wire::NewLabRun body) {
  return ScenarioRequest{c.actor.account, std::move(body)};
}

Result<LabRun> scenario_run(PoolContext& p, const ScenarioRequest& request) {
  SOUK_ASSIGN(auto task, scenario_task(request.run));
  return p.services().lab.add(request.account, std::move(task), ticket_of(p));
}

struct ReplayRequest {
  base::AccountId account;
  wire::NewLabReplay replay;
  std::optional<market::ClassId> slot_class;
  base::Time now;
};

Result<ReplayRequest> replay_request(Context& c, wire::NewLabReplay body) {
  ReplayRequest out{c.actor.account, std::move(body), {}, c.server().clock.now()};
  if (out.replay.class_) {
    SOUK_ASSIGN(out.slot_class, class_named(c.state(), *out.replay.class_));
  }
  return out;
}

Result<LabRun> replay_run(PoolContext& p, const ReplayRequest& request) {
  auto& lab = p.services().lab;
  SOUK_ASSIGN(auto task,
              replay_task(request.replay, request.slot_class, request.now, lab.journal()));
  return lab.add(request.account, std::move(task), ticket_of(p));
}

// --- What there is, and what came of it ----------------------------------------------------------

Result<wire::LabScenarios> scenarios(PoolContext& p, base::AccountId) {
  return wire::LabScenarios{lab_scenarios(), p.services().lab.limits()};
}

Result<wire::Page<LabRun>> list_runs(PoolContext& p, base::AccountId account) {
  return wire::Page<LabRun>{p.services().lab.list(account)};
}

Result<LabRun> one_run(PoolContext& p, const RunRequest& request) {
  SOUK_ASSIGN(auto found, p.services().lab.find(request.account, request.id));
  if (found.result) {
    found.run.summary = found.result->summary;
    found.run.comparisons = found.result->comparisons;
    found.run.replay = found.result->replay;
  }
  return std::move(found.run);
}

// What came of a scenario.
Result<std::shared_ptr<const LabResult>> result_of(PoolContext& p, const RunRequest& request,
                                                   std::string_view what) {
  const auto id = to_string(request.id);
  SOUK_ASSIGN(auto found, p.services().lab.find(request.account, request.id));
  if (found.run.kind == wire::LabKind::replay)
    return fail(Code::not_found, fmt::format("run {} is a replay: it has no {}", id, what),
                "the run itself holds all its results");
  if (!found.result)
    return fail(Code::conflict,
                fmt::format("run {} is {}: there is no {}", id, to_string(found.run.state), what),
                is_over(found.run.state) ? "run it again" : "ask when it is done");
  return std::move(found.result);
}

Result<net::Response> report(PoolContext& p, const RunRequest& request) {
  SOUK_ASSIGN(const auto result, result_of(p, request, "report"));
  return net::Response{.content_type = "text/html; charset=utf-8",
                       .headers = {{"Content-Security-Policy", kReportPolicy}},
                       .body = result->report};
}

Result<net::Response> trades(PoolContext& p, const RunRequest& request) {
  SOUK_ASSIGN(const auto result, result_of(p, request, "list of trades"));
  return net::Response{
      .content_type = "text/csv; charset=utf-8",
      .headers = {{"Content-Disposition",
                   fmt::format("attachment; filename=\"{}-trades.csv\"", to_string(request.id))}},
      .body = result->trades};
}

Result<LabRun> remove_run(PoolContext& p, const RunRequest& request) {
  return p.services().lab.remove(request.account, request.id, ticket_of(p));
}

void add_new_run_routes(Routes& routes) {
  routes
      .on_files<wire::NewLabRun>("POST", "/v1/lab/runs", "newLabRun",
                                 "Run a scenario under its mechanisms", Access::user,
                                 &scenario_request, &scenario_run)
      .doc.status = 201;
  routes
      .on_files<wire::NewLabReplay>("POST", "/v1/lab/replays", "newLabReplay",
                                    "Clear this market's own rounds again under other mechanisms",
                                    Access::operator_, &replay_request, &replay_run)
      .doc.status = 201;
}

}  // namespace

void add_lab_routes(Routes& routes) {
  routes.on_files("GET", "/v1/lab/scenarios", "listLabScenarios",
                  "Scenarios to begin with, and how large a run may be", Access::user, &asker,
                  &scenarios);
  add_new_run_routes(routes);
  routes.on_files("GET", "/v1/lab/runs", "listLabRuns",
                  "My runs, newest first, without what came of them", Access::user, &asker,
                  &list_runs);
  routes.on_files("GET", "/v1/lab/runs/{id}", "getLabRun",
                  "A run: how far it is, or what came of it", Access::user, &run_request, &one_run);
  routes
      .on_files("GET", "/v1/lab/runs/{id}/report", "getLabReport",
                "A page that shows what came of a scenario", Access::user, &run_request, &report)
      .doc.media = "text/html";
  routes
      .on_files("GET", "/v1/lab/runs/{id}/trades", "getLabTrades", "Every trade of a scenario",
                Access::user, &run_request, &trades)
      .doc.media = "text/csv";
  routes
      .on_files("DELETE", "/v1/lab/runs/{id}", "removeLabRun",
                "Cancel a run, or forget one that is finished", Access::user, &run_request,
                &remove_run)
      .doc.idempotency_key = true;
}

}  // namespace souk::server
