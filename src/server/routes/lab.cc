#include <fmt/format.h>

#include <map>

#include "server/http/app_on_files.h"
#include "server/lab/lab_runs.h"
#include "server/routes/views.h"
#include "wire/api/answer.h"
#include "wire/api/lab.h"

// The routes of the lab: experiments that the server computes for whoever asks, and this market's
// own history under other rules. The core only says who asks; nothing here waits for what computes.

namespace souk::server {
namespace {

using base::Code;
using base::fail;
using market::Actor;
using wire::LabRunId;
using wire::LabState;

// The page may show itself and nothing else: it holds names that people chose. The console frames
// it.
constexpr const char* kReportPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

// Who asks, as the core saw it.
struct Asker {
  base::AccountId account;
  base::Time now;
  std::optional<wire::NewLabReplay> replay;   // Of a replay: what is asked for,
  std::optional<market::ClassId> slot_class;  // and its class.
};

struct LabCall {
  LabRuns& runs;
  const Asker& who;
  const net::Request& http;
  const std::vector<std::string>& params;
  LabRuns::Ticket ticket;

  [[nodiscard]] Result<LabRunId> id() const {
    if (const auto id = base::IdTraits<LabRunId>::parse(params[0])) return *id;
    return Context::no_such(base::IdTraits<LabRunId>::noun, params[0]);
  }
};

Result<net::Response> scenarios(const LabCall& c) {
  return as_json(wire::to_json(wire::LabScenarios{lab_scenarios(), c.runs.limits()}));
}

Result<net::Response> queued(const LabCall& c, LabTask task) {
  SOUK_ASSIGN(const auto run, c.runs.add(c.who.account, std::move(task), c.ticket));
  return net::Response{.status = 201, .body = wire::to_json(run)};
}

Result<net::Response> new_run(const LabCall& c) {
  SOUK_ASSIGN(const auto body, wire::from_json<wire::NewLabRun>(c.http.body));
  SOUK_ASSIGN(auto task, scenario_task(body));
  return queued(c, std::move(task));
}

Result<net::Response> new_replay(const LabCall& c) {
  SOUK_ASSIGN(auto task, replay_task(*c.who.replay, c.who.slot_class, c.who.now, c.runs.journal()));
  return queued(c, std::move(task));
}

Result<net::Response> list(const LabCall& c) {
  return as_json(wire::to_json(wire::Page<LabRun>{c.runs.list(c.who.account)}));
}

Result<net::Response> one(const LabCall& c) {
  SOUK_ASSIGN(const auto id, c.id());
  SOUK_ASSIGN(auto found, c.runs.find(c.who.account, id));
  if (found.result) {
    found.run.summary = found.result->summary;
    found.run.comparisons = found.result->comparisons;
    found.run.replay = found.result->replay;
  }
  return as_json(wire::to_json(found.run));
}

// What came of a scenario.
Result<std::shared_ptr<const LabResult>> result_of(const LabCall& c, std::string_view what) {
  SOUK_ASSIGN(const auto id, c.id());
  SOUK_ASSIGN(auto found, c.runs.find(c.who.account, id));
  if (found.run.kind == wire::LabKind::replay)
    return fail(Code::not_found,
                fmt::format("run {} is a replay: it has no {}", to_string(id), what),
                "the run itself holds all that came of it");
  if (!found.result)
    return fail(Code::conflict,
                fmt::format("run {} is {}: there is no {}", to_string(id),
                            to_string(found.run.state), what),
                is_over(found.run.state) ? "run it again" : "ask when it is done");
  return std::move(found.result);
}

Result<net::Response> report(const LabCall& c) {
  SOUK_ASSIGN(const auto result, result_of(c, "report"));
  return net::Response{.content_type = "text/html; charset=utf-8",
                       .headers = {{"Content-Security-Policy", kReportPolicy}},
                       .body = result->report};
}

Result<net::Response> trades(const LabCall& c) {
  SOUK_ASSIGN(const auto result, result_of(c, "list of trades"));
  return net::Response{
      .content_type = "text/csv; charset=utf-8",
      .headers = {{"Content-Disposition",
                   fmt::format("attachment; filename=\"{}-trades.csv\"", c.params[0])}},
      .body = result->trades};
}

Result<net::Response> remove(const LabCall& c) {
  SOUK_ASSIGN(const auto id, c.id());
  SOUK_ASSIGN(const auto run, c.runs.remove(c.who.account, id, c.ticket));
  return as_json(wire::to_json(run));
}

using ServeLab = Result<net::Response> (*)(const LabCall&);
const std::map<std::string_view, ServeLab>& lab_table() {
  static const std::map<std::string_view, ServeLab> table{
      {"listLabScenarios", &scenarios}, {"newLabRun", &new_run},  {"newLabReplay", &new_replay},
      {"listLabRuns", &list},           {"getLabRun", &one},      {"getLabReport", &report},
      {"getLabTrades", &trades},        {"removeLabRun", &remove}};
  return table;
}

}  // namespace

void App::serve_lab(CallPtr call) {
  on_files(
      std::move(call),
      [this](const market::State& s, const Actor& actor, Call& c) -> Result<Asker> {
        Asker out{actor.account, clock_.now(), {}, {}};
        if (c.route->doc.id != "newLabReplay") return out;
        SOUK_ASSIGN(out.replay, wire::from_json<wire::NewLabReplay>(c.http.body));
        if (out.replay->class_) {
          SOUK_ASSIGN(out.slot_class, class_named(s, *out.replay->class_));
        }
        return out;
      },
      [this](Call& c, const Asker& who) {
        return lab_table().at(c.route->doc.id)(
            {services_.lab, who, c.http, c.params, {c.key, c.fingerprint}});
      });
}

void add_lab_routes(Routes& routes) {
  routes.special<void, wire::LabScenarios>("GET", "/v1/lab/scenarios", "listLabScenarios",
                                           "Scenarios to begin with, and how large a run may be",
                                           Access::user, 200);
  routes.special<wire::NewLabRun, LabRun>("POST", "/v1/lab/runs", "newLabRun",
                                          "Run a scenario under its mechanisms", Access::user, 201);
  routes.special<wire::NewLabReplay, LabRun>(
      "POST", "/v1/lab/replays", "newLabReplay",
      "Clear this market's own rounds again under other mechanisms", Access::operator_, 201);
  routes.special<void, wire::Page<LabRun>>("GET", "/v1/lab/runs", "listLabRuns",
                                           "My runs, newest first, without what came of them",
                                           Access::user, 200);
  routes.special<void, LabRun>("GET", "/v1/lab/runs/{id}", "getLabRun",
                               "A run: how far it is, or what came of it", Access::user, 200);
  routes
      .special<void, void>("GET", "/v1/lab/runs/{id}/report", "getLabReport",
                           "A page that shows what came of a scenario", Access::user, 200)
      .doc.media = "text/html";
  routes
      .special<void, void>("GET", "/v1/lab/runs/{id}/trades", "getLabTrades",
                           "Every trade of a scenario", Access::user, 200)
      .doc.media = "text/csv";
  routes
      .special<void, LabRun>("DELETE", "/v1/lab/runs/{id}", "removeLabRun",
                             "Cancel a run, or forget one that is finished", Access::user, 200)
      .doc.idempotency_key = true;
}

}  // namespace souk::server
