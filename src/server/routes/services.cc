#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "job/kinds.h"
#include "market/limits.h"
#include "server/http/router.h"
#include "server/routes/lookups.h"
#include "server/tunnels/line_desk.h"
#include "server/tunnels/service_desk.h"
#include "server/tunnels/service_specs.h"
#include "wire/api/service.h"

// Programs behind ports: requests to services, and the ways to programs on machines that nobody can
// connect to.

namespace souk::server {
namespace {

using base::Code;
using base::fail;

constexpr auto kForALine = std::chrono::seconds(10);

// --- Which service -------------------------------------------------------------------------------

struct Found {
  const market::Job* job = nullptr;
  std::shared_ptr<const wire::Batch> work;
};

bool may_call(const Context& c, const market::Job& job, const wire::BatchService& service) {
  return job.owner == c.actor.account || service.callers == wire::Callers::members;
}

std::string full_name(const Context& c, const market::Job& job, const wire::BatchService& service) {
  return fmt::format("{}.{}", c.state().accounts.at(job.owner).name, service.name);
}

// Live services of one account, the newest first.
template <class Visit>
void for_each_service(Context& c, base::AccountId owner, Visit&& visit) {
  const auto& jobs = c.state().index.jobs_of[owner.value];
  for (auto it = jobs.rbegin(); it != jobs.rend(); ++it) {
    const auto& job = c.state().jobs.at(*it);
    const auto* kind = job::find_kind(job.kind);
    if (market::is_final(job.state) || kind == nullptr || !kind->serves) continue;
    const auto work = c.services().works.of(job);
    if (work && work->service && visit(Found{&job, work})) return;
  }
}

base::Failure no_service(std::string_view name) {
  return fail(Code::not_found, fmt::format("there is no service '{}'", name.substr(0, 80)),
              "`souk services` lists those that you may call: OWNER.NAME");
}

// "hello" of one's own, "bob.hello", or "j7".
Result<Found> service_named(Context& c, std::string_view name) {
  Found out;
  const auto dot = name.find('.');
  const auto look = [&](base::AccountId owner, std::string_view wanted) {
    for_each_service(c, owner, [&](Found f) {
      if (f.work->service->name != wanted && to_string(f.job->id) != wanted) return false;
      out = std::move(f);
      return true;
    });
  };
  if (const auto id = base::IdTraits<base::JobId>::parse(name)) {
    if (const auto* job = c.state().jobs.find(*id)) look(job->owner, name);
  } else if (dot == name.npos) {
    look(c.actor.account, name);
  } else if (const auto* owner = c.state().find_account(name.substr(0, dot))) {
    look(owner->id, name.substr(dot + 1));
  }
  if (out.job == nullptr || !may_call(c, *out.job, *out.work->service)) return no_service(name);
  return out;
}

// Of all that the caller may use: visit(owner's account name, found).
template <class Visit>
void for_each_callable(Context& c, Visit&& visit) {
  std::size_t looked_at = 0;
  const auto& s = c.state();
  s.accounts.for_each([&](const market::Account& a) {
    looked_at += s.index.jobs_of[a.id.value].size();
    for_each_service(c, a.id, [&](const Found& f) {
      if (may_call(c, *f.job, *f.work->service)) visit(a.name, f);
      return false;
    });
  });
  c.charge(looked_at, kLooksPerRequest);
}

// "llama", or "bob/llama"; one's own first.
Result<Found> service_with_model(Context& c, std::string_view model) {
  Found out;
  for_each_callable(c, [&](const std::string& owner, const Found& f) {
    const auto& known = f.work->service->model;
    if (known.empty() || (model != known && model != owner + "/" + known)) return;
    const bool own = f.job->owner == c.actor.account;
    if (out.job == nullptr || (own && out.job->owner != c.actor.account)) out = f;
  });
  if (out.job == nullptr)
    return fail(Code::not_found, fmt::format("there is no model '{}'", model.substr(0, 80)),
                "GET /v1/models lists those that you may use", "model");
  return out;
}

// --- What the program gets -----------------------------------------------------------------------

// What is between the caller and the market, or the market's business.
constexpr std::array<std::string_view, 13> kNotPassedOn = {
    "authorization", "connection", "content-length",      "cookie", "expect",
    "host",          "keep-alive", "proxy-authorization", "te",     "trailer",
    "upgrade",       "via",        "transfer-encoding"};

std::string request_text(const Context& c, const net::Request& http, std::string_view target,
                         const wire::BatchService& service) {
  auto out = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nX-Souk-Caller: {}\r\n", http.method, target,
                         service.name, c.state().accounts.at(c.actor.account).name);
  for (const auto& [name, value] : http.headers) {
    const bool kept = std::ranges::any_of(
        kNotPassedOn, [&](std::string_view word) { return net::equal_ignoring_case(name, word); });
    if (!kept && !net::equal_ignoring_case(name, "x-souk-caller") &&
        !net::equal_ignoring_case(name, "idempotency-key"))
      out += fmt::format("{}: {}\r\n", name, value);
  }
  out += fmt::format("Content-Length: {}\r\n\r\n", http.content().size());
  out += http.content();
  return out;
}

void pass_on(Context& c, ApiCallPtr call, const Found& found, std::string_view target) {
  const auto& service = *found.work->service;
  if (c.services().desk == nullptr) return;  // The call answers 503 itself.
  if (found.job->state == market::JobState::paused)
    return answer_after(
        c.turn(), std::move(call),
        refusal(base::Error{Code::unavailable, "the service is paused: " + found.job->reason, ""}));
  const auto spec = spec_of(found.job->id, service);
  auto text = request_text(c, call->http, target, service);
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::microseconds(service.timeout.us);
  c.services().desk->serve(
      spec, std::make_unique<ServiceRequest>(std::move(text), call->http.method == "HEAD",
                                             std::move(call->reply), until));
}

// --- Requests ------------------------------------------------------------------------------------

struct NoBody {};

// A page that somebody looks at must not act for them: only whoever has a token calls services.
Result<> need_token(const ApiCall& call) {
  if (!call.credential.cookie) return {};
  return fail(Code::forbidden, "services are called with a token",
              "send Authorization: Bearer TOKEN; a browser's session is not enough");
}

void call_service(ServerContext& server, ApiCallPtr call) {
  to_core_authorised(
      server, std::move(call), Result<NoBody>(NoBody{}), [](Context& c, ApiCallPtr own, NoBody) {
        auto found = service_named(c, own->params[0]);
        if (auto token = need_token(*own); !token) found = std::unexpected(token.error());
        if (!found) return answer_after(c.turn(), std::move(own), problem(found.error()));
        const auto& target = own->http.target;
        const auto query = target.find('?');
        const auto path = "/" + own->params[1] + (query == target.npos ? "" : target.substr(query));
        pass_on(c, std::move(own), *found, path);
      });
}

// As clients of OpenAI's API send it: the model is named in the body.
void call_model(ServerContext& server, ApiCallPtr call) {
  to_core_authorised(
      server, std::move(call), Result<NoBody>(NoBody{}), [](Context& c, ApiCallPtr own, NoBody) {
        const auto find = [&]() -> Result<Found> {
          SOUK_TRY(need_token(*own));
          SOUK_ASSIGN(const auto body,
                      (wire::from_json<std::map<std::string, wire::AnyJson>>(own->http.content())));
          const auto named = body.find("model");
          const auto model = named == body.end()
                                 ? Result<std::string>(fail(Code::invalid, "no model is named",
                                                            "give \"model\"", "model"))
                                 : wire::from_json<std::string>(named->second.text);
          if (!model) return std::unexpected(model.error());
          return service_with_model(c, *model);
        };
        const auto found = find();
        if (!found) return answer_after(c.turn(), std::move(own), problem(found.error()));
        const auto path = own->http.path;
        pass_on(c, std::move(own), *found, path);
      });
}

Result<wire::ModelList> list_models(Context& c) {
  wire::ModelList out;
  for_each_callable(c, [&](const std::string& owner, const Found& f) {
    const auto& model = f.work->service->model;
    if (model.empty()) return;
    const bool own = f.job->owner == c.actor.account;
    out.data.push_back({.id = own ? model : owner + "/" + model, .owned_by = owner});
  });
  return out;
}

Result<wire::ServiceList> list_services(Context& c) {
  wire::ServiceList out;
  for_each_callable(c, [&](const std::string& owner, const Found& f) {
    const auto& service = *f.work->service;
    wire::ServiceRow row{.name = full_name(c, *f.job, service),
                         .job = f.job->id,
                         .owner = owner,
                         .callers = service.callers};
    if (!service.model.empty()) row.model = service.model;
    if (c.services().desk) {
      const auto now = c.services().desk->now(f.job->id);
      row.workers = now.workers;
      row.in_work = now.in_work;
      row.queued = now.queued;
    }
    out.items.push_back(std::move(row));
  });
  return out;
}

// --- Ways to programs ----------------------------------------------------------------------------

// The agent of a lease has a line to spare.
Result<Continuation> park_line(Context& c) {
  SOUK_ASSIGN(const auto* l, open_lease_for_agent(c, c.param()));
  const auto& job = c.state().jobs.at(l->job);
  const auto* kind = job::find_kind(job.kind);
  if (kind == nullptr || !(kind->serves || kind->attended || kind->together) ||
      l->state == market::LeaseState::granted)
    return fail(Code::conflict, fmt::format("nobody talks to lease {}", c.param()));
  auto lines = c.services().lines;
  if (!lines) return fail(Code::unavailable, "this server carries no connections");
  return Continuation([lines, lease = l->id](Core::Turn&, ApiCallPtr call) {
    call->reply.hand_over(
        [lines, lease](std::unique_ptr<net::Line> line) { lines->park(lease, std::move(line)); });
  });
}

// The lease of one worker of the job.
Result<base::LeaseId> worker_of(Context& c, const market::Job& job) {
  SOUK_ASSIGN(const auto worker, c.number("worker", 0, 0, market::kPartsMax));
  for (const auto id : job.leases)
    if (const auto& l = c.state().leases.at(id);
        l.part == worker && l.state != market::LeaseState::granted)
      return id;
  return fail(Code::conflict,
              fmt::format("worker {} of job {} does not run now", worker, to_string(job.id)),
              "`souk why " + to_string(job.id) + "` says what it waits for");
}

// The owner talks to a port, or to the terminal, of the job's program.
Result<Continuation> connect(Context& c) {
  SOUK_ASSIGN(const auto* job, job_for(c));
  const auto* kind = job::find_kind(job->kind);
  if (job->owner != c.actor.account)
    return fail(Code::conflict, "only its owner talks to a job's program");
  SOUK_TRY(need_token(c.call()));
  if (kind == nullptr || !(kind->serves || kind->attended || kind->together))
    return fail(Code::conflict,
                fmt::format("nobody can talk to the program of a job of kind {}", job->kind),
                "use kind session, service or gang");
  SOUK_ASSIGN(const auto lease, worker_of(c, *job));
  SOUK_ASSIGN(const auto port, c.number("port", 0, 0, 65'535));
  auto lines = c.services().lines;
  if (!lines) return fail(Code::unavailable, "this server carries no connections");
  const auto wish = port == 0 ? std::string("terminal\n") : fmt::format("port {}\n", port);
  return Continuation([lines, lease, wish, tunnels = &c.services().tunnels](Core::Turn&,
                                                                            ApiCallPtr call) {
    lines->take(lease, wish, kForALine,
                [call = std::move(call), tunnels](std::unique_ptr<net::Line> line) mutable {
                  if (!line)
                    return call->reply.send(refusal(base::Error{
                        Code::unavailable, "the program cannot be talked to yet", "try again"}));
                  call->reply.hand_over(
                      [line = std::move(line), tunnels](std::unique_ptr<net::Line> theirs) mutable {
                        if (theirs) tunnels->carry(std::move(theirs), std::move(line));
                      });
                });
  });
}

}  // namespace

void add_service_routes(Routes& routes) {
  const std::array<std::pair<std::string, std::string>, 5> methods{{{"DELETE", "callServiceDelete"},
                                                                    {"GET", "callServiceGet"},
                                                                    {"PATCH", "callServicePatch"},
                                                                    {"POST", "callServicePost"},
                                                                    {"PUT", "callServicePut"}}};
  for (const auto& [method, id] : methods) {
    auto& route = routes.on_io<void, net::Response>(method, "/v1/services/{name}/{path...}", id,
                                                    "A request to a service: its program answers",
                                                    Access::user, &call_service);
    route.doc.media = "application/octet-stream";
    if (method != "GET" && method != "DELETE") route.doc.request_media = "application/octet-stream";
  }
  routes.get("/v1/services", "listServices", "Services that I may call", Access::user,
             &list_services);
  for (const auto& [path, id] :
       {std::pair<std::string, std::string>{"/v1/chat/completions", "chatCompletions"},
        {"/v1/completions", "completions"}}) {
    auto& route = routes.on_io<void, net::Response>(
        "POST", path, id, "As in OpenAI's API: the service with that model answers", Access::user,
        &call_model);
    route.doc.media = "application/json";
    route.doc.request_media = "application/json";
  }
  routes.get("/v1/models", "listModels", "Language models that I may use, as in OpenAI's API",
             Access::user, &list_models);
  auto& line = routes.waiting<void>("/v1/leases/{id}/line", "parkLine",
                                    "A line to the lease's program, to be used by whoever may talk "
                                    "to it: the connection leaves HTTP (101)",
                                    Access::agent, &park_line);
  line.doc.status = 101;
  auto& way = routes.waiting<void>("/v1/jobs/{id}/connect", "connectJob",
                                   "A way to a port, or to the terminal, of my job's program: the "
                                   "connection leaves HTTP (101)",
                                   Access::user, &connect);
  way.doc.status = 101;
  way.doc.query = {{"worker", "integer", "Which of its workers; 0 by default.", false},
                   {"port", "integer", "Of the program; absent: its terminal.", false}};
}

}  // namespace souk::server
