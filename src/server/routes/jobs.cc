#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "job/job_terms.h"
#include "job/work.h"
#include "market/classes.h"
#include "market/decide/larger_class.h"
#include "market/limits.h"
#include "server/advice/advice.h"
#include "server/advice/asks.h"
#include "server/http/router.h"
#include "server/routes/lookups.h"
#include "server/routes/proofs.h"
#include "server/routes/views.h"
#include "server/sweep/sweeps.h"
#include "wire/api/volume.h"
#include "wire/spellings.h"

// Jobs, leases, and what a machine's agent needs.

namespace souk::server {
namespace {

using base::Code;
using base::Credits;
using base::fail;
using market::State;

// The smallest class that has the resources: fewest GPUs, then cores, then memory.
Result<market::ClassId> smallest_class(const State& s, const wire::Resources& r) {
  const market::SlotClass* best = nullptr;
  for (const auto& c : s.classes) {
    const bool fits = !c.retired && c.cores >= r.cores && c.memory_mib >= r.memory_mib &&
                      c.gpus >= r.gpus && c.gpu_memory_mib >= r.gpu_memory_mib;
    if (fits && (best == nullptr || job::size_of(c) < job::size_of(*best))) best = &c;
  }
  if (best != nullptr) return best->id;
  return fail(Code::invalid, "no slot class has so many resources",
              "ask for less per worker and for more workers; `souk class list` shows the classes",
              "resources");
}

Result<market::ClassId> class_of(const State& s, const wire::NewJob& body) {
  if (body.class_ && body.resources)
    return fail(Code::invalid, "a job names a class or resources, not both", "drop one of them",
                "resources");
  if (!body.class_) return smallest_class(s, body.resources.value_or(wire::Resources{}));
  return class_named(s, *body.class_);
}

// The class it begins in, unless another turns out to be better, and the others.
Result<> add_classes(const State& s, const wire::NewJob& body, market::SubmitJob& command) {
  SOUK_ASSIGN(command.slot_class, class_of(s, body));
  if (!body.class_ && !body.expect) command.least_class = command.slot_class;
  std::vector classes{&s.slot_class(command.slot_class)};
  for (const auto& name : body.also_classes) {
    auto other = class_named(s, name);
    if (!other) {
      other.error().field = "also_classes";
      return std::unexpected(std::move(other).error());
    }
    command.also.push_back(*other);
    classes.push_back(&s.slot_class(*other));
  }
  return market::check_classes(command.pay, classes);
}

// Unless it says so: twice what is suggested, where that is most.
Credits limit_of(const State& s, const wire::NewJob& body, const market::SubmitJob& command,
                 base::Time now) {
  if (body.limit) return *body.limit;
  auto suggested = s.suggested(command.slot_class, now, now);
  for (const auto other : command.also)
    suggested = std::max(suggested, s.suggested(other, now, now));
  return Credits(suggested.micro * 2);
}

Result<std::vector<base::AccountId>> accounts(const State& s, const std::vector<std::string>& names,
                                              std::string_view field) {
  std::vector<base::AccountId> out;
  for (const auto& name : names) {
    const auto* a = s.find_account(name);
    if (a == nullptr)
      return fail(Code::invalid, fmt::format("there is no account '{}'", name.substr(0, 80)), "",
                  fmt::format("constraints.{}", field));
    out.push_back(a->id);
  }
  return out;
}

Result<market::Constraints> constraints_from(const State& s, const wire::Constraints& v) {
  market::Constraints out{.packages = v.packages,
                          .regions = v.regions,
                          .max_rtt_ms = v.max_rtt_ms.value_or(0),
                          .providers_allowed = v.providers_allowed,
                          .providers_refused = v.providers_refused};
  if (const auto r = v.min_reliability) {
    if (!(*r >= 0 && *r <= 1))
      return fail(Code::invalid, fmt::format("the least reliability cannot be {}", *r),
                  "use 0 to 1", "constraints.min_reliability");
    out.min_reliability_ppm = static_cast<std::int32_t>(std::lround(*r * 1e6));
  }
  SOUK_ASSIGN(out.lenders_allowed, accounts(s, v.lenders_allowed, "lenders_allowed"));
  SOUK_ASSIGN(out.lenders_refused, accounts(s, v.lenders_refused, "lenders_refused"));
  return out;
}

Result<> need_blob(Context& c, const std::string& name, std::string_view field) {
  if (c.services().has_blob(c.actor.account, name)) return {};
  return fail(Code::invalid, fmt::format("the server does not have '{}'", name.substr(0, 80)),
              "upload it first", std::string(field));
}

// Where a GPU helps and the job does not say what it needs, it begins in the smallest class with a
// GPU of which enough slots are free within its limit; without a limit, within twice what is
// suggested there.
void prefer_gpu(const State& s, const wire::NewJob& body, base::Time now,
                market::SubmitJob& command) {
  if (!command.least_class || !job::likes_gpu(body)) return;
  const market::Demands demands{.constraints = command.terms.constraints};
  for (const auto id : market::larger_classes(s, command.least_class)) {
    if (s.slot_class(id).gpus == 0) continue;
    const auto limit = body.limit.value_or(Credits(s.suggested(id, now, now).micro * 2));
    std::int64_t free = 0;
    for (const auto& ask : on_offer(s, id, demands, limit, now)) free += ask.row->free;
    if (free < body.workers.min) continue;
    command.slot_class = id;
    command.terms.limit = limit;
    return;
  }
}

// The job as the market takes it, but for its files.
Result<market::SubmitJob> as_command(Context& c, const wire::NewJob& body) {
  const auto& s = c.state();
  SOUK_ASSIGN(auto command, job::command_for(body));
  SOUK_TRY(add_classes(s, body, command));
  command.terms = {.workers = {body.workers.min, body.workers.max},
                   .limit = limit_of(s, body, command, c.now()),
                   .budget = body.budget,
                   .deadline = body.deadline.value_or(base::kNever),
                   .priority = body.priority};
  SOUK_ASSIGN(command.terms.constraints, constraints_from(s, body.constraints));
  SOUK_TRY(job::add_work(body, command));
  prefer_gpu(s, body, c.now(), command);
  command.expect = body.expect.value_or("");
  return command;
}

Result<wire::JobPlan> plan(Context& c, const wire::NewJob& body) {
  SOUK_ASSIGN(const auto command, as_command(c, body));
  auto out = plan_of(c.state(), body, command, c.now());
  if (body.batch && body.batch->sweep) out.sweep = sweep_plan(body, out);
  out.prices = prices_now(c.state(), body, command, c.actor.account, c.now());
  out.elsewhere = elsewhere_text(c.state(), command, c.now());
  return out;
}

Result<wire::SweepStatus> show_sweep(Context& c) {
  SOUK_ASSIGN(const auto* job, job_for(c));
  const auto work = c.services().works.of(*job);
  if (!market::is_sweep(*job) || !work || !work->sweep)
    return fail(Code::conflict, fmt::format("job {} is no sweep", c.param()));
  return sweep_view(c.state(), *job, *work->sweep);
}

Result<wire::Job> submit(Context& c, const wire::NewJob& body) {
  const auto& s = c.state();
  SOUK_ASSIGN(auto command, as_command(c, body));
  auto& live_jobs = c.services().budgets.live_jobs;
  SOUK_TRY(live_jobs.would_take(party(c.actor.account), 1));
  foretell(s, body, command, c.now(), c.actor.account);
  SOUK_ASSIGN(const auto events, c.execute(std::move(command)));
  return view(s, s.jobs.at(std::get<market::JobSubmitted>(events.front()).job.id), c.now());
}

// With the files of the job, which are kept from now on if it is accepted.
CoreStep submitting(wire::NewJob body, Pins::JobFiles files) {
  return [body = std::move(body),
          files = std::move(files)](Context& c) mutable -> Result<std::string> {
    const auto job = submit(c, body);
    if (job) {
      c.services().pins.hold(job->id, std::move(files));
      return wire::to_json(*job);
    }
    // Letting go of many takes a while.
    c.server().files.post([gone = std::move(files)] {});
    return std::unexpected(job.error());
  };
}

// What is journaled must be there to be found: so a thread that may read it pins the job's files
// before the market hears of it.
void serve_submit(ServerContext& server, ApiCallPtr call, Result<wire::NewJob> body) {
  if (!body) return serve_on_core(server, std::move(call), std::unexpected(body.error()));
  if (!body->batch || job::blobs_of(body->kind, *body->batch).empty())
    return serve_on_core(server, std::move(call), submitting(*std::move(body), {}));
  to_core_authorised(server, std::move(call), std::move(body),
                     [&server](Context& c, ApiCallPtr own, wire::NewJob read) {
                       if (auto first = first_answer(c, *own))
                         return answer_after(c.turn(), std::move(own),
                                             *first ? **std::move(first) : problem(first->error()));
                       if (const auto good = as_command(c, read); !good)
                         return answer_after(c.turn(), std::move(own), problem(good.error()));
                       to_pool(server.files, std::move(own),
                               [&server, account = c.actor.account,
                                read = std::move(read)](ApiCallPtr mine) mutable {
                                 auto files = server.services.pins.prepare(
                                     account, job::blobs_of(read.kind, *read.batch));
                                 if (!files) return mine->reply.send(problem(files.error()));
                                 serve_on_core(server, std::move(mine),
                                               submitting(std::move(read), *std::move(files)));
                               });
                     });
}

Result<wire::Job> edit_job(Context& c, const wire::JobEdit& body) {
  SOUK_ASSIGN(const auto* job, job_for(c));
  auto terms = job->terms;
  if (body.workers) terms.workers = {body.workers->min, body.workers->max};
  if (body.limit) terms.limit = *body.limit;
  if (body.budget) terms.budget = *body.budget;
  if (body.deadline) terms.deadline = *body.deadline;
  if (body.priority) terms.priority = *body.priority;
  if (body.constraints) {
    SOUK_ASSIGN(terms.constraints, constraints_from(c.state(), *body.constraints));
    auto& packages = terms.constraints.packages;
    if (const auto work = c.services().works.of(*job))
      for (auto& demand : job::demands_of(job->kind, *work))
        if (std::ranges::find(packages, demand) == packages.end())
          packages.push_back(std::move(demand));
  }
  SOUK_TRY(c.execute(market::ChangeJob{job->id, std::move(terms)}));
  // More money is what a job that ran out of it was waiting for.
  if (job->state == market::JobState::paused && job->reason == market::kBudgetUsedUp)
    SOUK_TRY(c.execute(market::ResumeJob{job->id}));
  return view(c.state(), *job, c.now());
}

template <class Make>
Result<wire::Job> on_job(Context& c, Make make) {
  SOUK_ASSIGN(const auto* job, job_for(c));
  SOUK_TRY(c.execute(make(job->id)));
  return view(c.state(), *job, c.now());
}

Result<wire::Page<wire::Job>> list_jobs(Context& c) {
  std::optional<market::JobState> wanted;
  if (const auto text = c.query("state"); !text.empty()) {
    SOUK_ASSIGN(wanted, wire::parse_name<market::JobState>(text, "state"));
  }
  const auto& s = c.state();
  const bool trials = c.flag("trials");
  const auto keep = [&](const auto& j) {
    return (trials || !j.sweep) && (!wanted || j.state == *wanted) &&
           (c.is_operator() || is_owner_of(c.actor, j));
  };
  const auto show = [&, now = c.now()](const auto& j) { return view(s, j, now); };
  if (c.flag("all") && c.is_operator()) return page<wire::Job>(c, s.jobs, keep, show);
  return page<wire::Job>(c, s.jobs, s.index.jobs_of[c.actor.account.value], keep, show);
}

// The part as its owner sees it: the open lease, if there is one, says more than the record.
wire::WorkerStatus part_view(Context& c, const market::Job& job, std::int32_t index) {
  const auto& s = c.state();
  wire::WorkerStatus out{.index = index};
  if (const auto* known = job.part(index)) {
    if (known->done) out.state = wire::WorkerState::done;
    out.tries = known->tries;
    if (!known->checkpoint.empty()) out.checkpoint = known->checkpoint;
    if (!known->result.empty()) out.result = known->result;
  }
  for (const auto id : job.leases) {
    const auto& l = s.leases.at(id);
    if (l.part != index) continue;
    out.state = l.ready > base::Time() && l.state == market::LeaseState::granted
                    ? wire::WorkerState::ready
                : l.state == market::LeaseState::granted ? wire::WorkerState::preparing
                : l.state == market::LeaseState::running ? wire::WorkerState::running
                                                         : wire::WorkerState::draining;
    out.lease = id;
    out.machine = s.machines.at(l.machine).name;
    out.doing = c.services().telemetry.doing(id);
  }
  return out;
}

Result<wire::Page<wire::WorkerStatus>> list_parts(Context& c) {
  SOUK_ASSIGN(const auto* job, job_for(c));
  SOUK_ASSIGN(const auto limit, c.number("limit", 50, 1, 500));
  SOUK_ASSIGN(const auto after, c.number("after", -1, -1, market::kPartsMax));
  wire::Page<wire::WorkerStatus> out;
  if (job->work.empty() || market::is_sweep(*job)) return out;
  for (auto i = static_cast<std::int32_t>(after) + 1; i < job->terms.workers.max; ++i) {
    if (std::ssize(out.items) == limit) {
      out.next = std::to_string(i - 1);
      break;
    }
    out.items.push_back(part_view(c, *job, i));
  }
  return out;
}

void add_job_list_routes(Routes& routes) {
  auto& list =
      paged(routes.get("/v1/jobs", "listJobs", "My jobs, newest first", Access::user, &list_jobs));
  list.doc.query.push_back(
      {"state", "string", "Only jobs in this state.", false, wire::names_list<market::JobState>()});
  list.doc.query.push_back({"all", "boolean", "Operators: everybody's.", false});
  list.doc.query.push_back({"trials", "boolean", "Trials of sweeps, too.", false});
  auto& planned = routes.change<wire::NewJob>(
      "POST", "/v1/plan", "planJob",
      "What a job would take and cost on the machines on offer; changes nothing and needs none of "
      "its files",
      Access::user, 200, &plan);
  planned.doc.idempotency_key = false;  // It may be asked again.
  routes
      .on_io<wire::NewJob, wire::Job>("POST", "/v1/jobs", "submitJob",
                                      "Submit a job: its budget goes into escrow", Access::user,
                                      &serve_submit)
      .doc.status = 201;
  routes.get("/v1/jobs/{id}", "getJob", "One of my jobs", Access::user,
             [](Context& c) -> Result<wire::Job> {
               SOUK_ASSIGN(const auto* job, job_for(c));
               auto out = view(c.state(), *job, c.now());
               if (const auto batch = c.services().works.of(*job)) out.batch = *batch;
               for (auto& lease : out.leases) lease.doing = c.services().telemetry.doing(lease.id);
               return out;
             });
  paged(routes.get("/v1/jobs/{id}/parts", "listParts", "The workers of a batch job", Access::user,
                   &list_parts));
  routes.get("/v1/jobs/{id}/sweep", "getSweep", "The trials of a sweep", Access::user, &show_sweep);
  routes.change<wire::JobEdit>("PATCH", "/v1/jobs/{id}", "editJob",
                               "Change limits, workers or constraints of a live job", Access::user,
                               200, &edit_job);
  routes.change("POST", "/v1/jobs/{id}/pause", "pauseJob", "Give all workers back for now",
                Access::user,
                [](Context& c) { return on_job(c, [](auto id) { return market::PauseJob{id}; }); });
  routes.change(
      "POST", "/v1/jobs/{id}/resume", "resumeJob", "Bid again", Access::user,
      [](Context& c) { return on_job(c, [](auto id) { return market::ResumeJob{id}; }); });
  routes.change<wire::Cancel>(
      "POST", "/v1/jobs/{id}/cancel", "cancelJob", "End a job; what is left of its budget returns",
      Access::user, 200, [](Context& c, const wire::Cancel& body) {
        return on_job(c, [&](auto id) { return market::CancelJob{id, body.reason}; });
      });
  routes.get("/v1/jobs/{id}/why", "whyJob", "Why it does not run, and the cheapest ways out",
             Access::user, [](Context& c) -> Result<wire::Why> {
               SOUK_ASSIGN(const auto* job, job_for(c));
               auto why = why_view(c.state(), *job, c.now(),
                                   c.turn().liveness().unheard(c.state(), c.now()));
               for (auto& unproved : why.unproved) unproved.busy = busy_cores(c, unproved.machine);
               return why;
             });
  paged(routes.get("/v1/jobs/{id}/leases", "listJobLeases", "All leases of a job", Access::user,
                   [](Context& c) -> Result<wire::Page<wire::Lease>> {
                     SOUK_ASSIGN(const auto* job, job_for(c));
                     return page<wire::Lease>(
                         c, c.state().leases, [&](const auto& l) { return l.job == job->id; },
                         [&](const auto& l) { return view(c.state(), l); });
                   }));
}

// The agent was heard, whatever comes of its report. Nobody speaks for another's machine.
void hear(Context& c, base::MachineId machine, base::LeaseId lease, std::int32_t epoch) {
  const auto* l = c.state().leases.find(lease);
  if (l != nullptr && l->machine == machine && l->epoch == epoch)
    c.turn().liveness().heard(lease, c.now());
}

// What the machine says of its lease goes beside the journal.
void note_use(Context& c, base::MachineId machine, const wire::LeaseReport& held) {
  const auto* l = c.state().leases.find(held.lease);
  if (l == nullptr || l->machine != machine || l->epoch != held.epoch ||
      l->state == market::LeaseState::closed)
    return;
  if (held.doing) c.services().telemetry.set_doing(held.lease, held.doing->substr(0, 80));
  if (held.usage) c.services().telemetry.add(held.lease, {c.now(), *held.usage});
}

wire::Order order_for(const State& s, base::MachineId machine, const wire::LeaseReport& held) {
  const auto* l = s.leases.find(held.lease);
  wire::Order out{.lease = held.lease, .epoch = held.epoch, .action = wire::OrderAction::stop};
  if (l == nullptr || l->machine != machine || l->epoch != held.epoch ||
      l->state == market::LeaseState::closed)
    return out;
  out.action =
      l->state == market::LeaseState::draining ? wire::OrderAction::drain : wire::OrderAction::run;
  out.until = l->next ? l->next->until : l->term.until;
  return out;
}

Result<wire::Orders> heartbeat(Context& c, const wire::Heartbeat& body) {
  constexpr std::size_t most = 10'000;
  SOUK_ASSIGN(const auto id, c.id<base::MachineId>());
  if (body.leases.size() > most)
    return fail(Code::too_large, fmt::format("the heartbeat has {} leases", body.leases.size()),
                fmt::format("send at most {}", most), "leases");
  if (body.busy) SOUK_TRY(BusyMachines::check(*body.busy));
  market::Heartbeat command{.machine = id};
  for (const auto& held : body.leases) command.leases.push_back({held.lease, held.epoch});
  SOUK_TRY(c.execute(std::move(command)));
  c.turn().liveness().heard(id, c.now());
  wire::Orders out{.heartbeat_every = c.state().settings.silence / 4};
  for (const auto& held : body.leases) {
    hear(c, id, held.lease, held.epoch);
    note_use(c, id, held);
    out.orders.push_back(order_for(c.state(), id, held));
  }
  if (body.holds) {
    if (body.holds->size() > Holdings::kMost)
      return fail(Code::too_large, fmt::format("the machine holds {} blobs", body.holds->size()),
                  fmt::format("send at most {}, those used last", Holdings::kMost), "holds");
    c.services().holdings.set(id, *body.holds);
  }
  out.challenge = next_challenge(c, id, body.busy);
  // Who waits for its first challenge should not wait for long.
  if (c.services().challenges.enabled() && !c.state().machines.at(id).doubted.empty()) {
    out.heartbeat_every = std::min(out.heartbeat_every, base::seconds(1));
    out.unproved = true;
  }
  return out;
}

Result<wire::Lease> start(Context& c, const wire::LeaseStart& body) {
  SOUK_ASSIGN(const auto id, c.id<base::LeaseId>());
  SOUK_TRY(c.execute(market::StartLease{id, body.epoch}));
  const auto& lease = c.state().leases.at(id);
  hear(c, lease.machine, id, body.epoch);
  c.turn().liveness().heard(lease.machine, c.now());
  return view(c.state(), lease);
}

market::LeaseOutcome outcome_of(wire::ReportedOutcome reported) {
  switch (reported) {
    case wire::ReportedOutcome::completed:
      return market::LeaseOutcome::completed;
    case wire::ReportedOutcome::failed:
      return market::LeaseOutcome::failed;
    case wire::ReportedOutcome::released:
      return market::LeaseOutcome::released;
    case wire::ReportedOutcome::unstarted:
      return market::LeaseOutcome::unstarted;
  }
  CHECK(false);
}

Result<wire::Lease> finish(Context& c, const wire::LeaseFinish& body) {
  SOUK_ASSIGN(const auto id, c.id<base::LeaseId>());
  if (body.result) SOUK_TRY(need_blob(c, *body.result, "result"));
  SOUK_TRY(c.execute(market::FinishLease{id, body.epoch, outcome_of(body.outcome), body.detail,
                                         body.result.value_or(""), body.fault == wire::Fault::job,
                                         c.services().challenges.enabled()}));
  if (body.usage) c.services().telemetry.add(id, {c.now(), *body.usage});
  return view(c.state(), c.state().leases.at(id));
}

Result<wire::Acknowledged> checkpoint(Context& c, const wire::LeaseCheckpoint& body) {
  SOUK_ASSIGN(const auto id, c.id<base::LeaseId>());
  SOUK_TRY(need_blob(c, body.checkpoint, "checkpoint"));
  SOUK_TRY(c.execute(market::CheckpointLease{id, body.epoch, body.checkpoint}));
  return wire::Acknowledged{};
}

Result<wire::Acknowledged> save_volume(Context& c, const wire::VolumeSave& body) {
  SOUK_ASSIGN(const auto id, c.id<base::LeaseId>());
  SOUK_TRY(need_blob(c, body.blob, "blob"));
  SOUK_TRY(c.execute(market::SaveVolume{id, body.epoch, body.name, body.blob}));
  return wire::Acknowledged{};
}

std::string folder_of(const wire::VolumeSave& report) { return report.blob; }
std::string folder_of(const wire::LeaseFinish& report) { return report.result.value_or(""); }
std::string folder_of(const wire::LeaseCheckpoint& report) { return report.checkpoint; }

// Has the lender sent every chunk of the folder? Else its report would be a way to others' files.
Result<> sent_all(const Services& services, base::AccountId lender, const std::string& folder) {
  const auto root = blob::parse_digest(folder);
  if (!root || !services.claims.claimed(lender, {&*root, 1})) return {};  // need_blob() says it.
  if (services.claims.claimed(lender, Pins::names_in(*root, *services.blobs))) return {};
  return fail(Code::invalid,
              fmt::format("the folder '{}' names chunks that this lender has not uploaded", folder),
              "upload all of it first", "result");
}

// A lender's report fn(Context&, const Body&). A thread that may read looks at the folder it names
// before the market hears of it.
template <class Body, class Fn>
auto reporting(Fn fn) {
  const auto step = [fn](Body body) -> CoreStep {
    return [fn, body = std::move(body)](Context& c) -> Result<std::string> {
      const auto answer = fn(c, body);
      if (!answer) return std::unexpected(answer.error());
      return wire::to_json(*answer);
    };
  };
  return [step](ServerContext& server, ApiCallPtr call, Result<Body> body) {
    if (!body) return serve_on_core(server, std::move(call), std::unexpected(body.error()));
    if (folder_of(*body).empty())
      return serve_on_core(server, std::move(call), step(*std::move(body)));
    to_core_authorised(
        server, std::move(call), std::move(body),
        [&server, step](Context& c, ApiCallPtr own, Body read) {
          if (auto first = first_answer(c, *own))
            return answer_after(c.turn(), std::move(own),
                                *first ? **std::move(first) : problem(first->error()));
          to_pool(server.files, std::move(own),
                  [&server, step, lender = c.actor.account,
                   read = std::move(read)](ApiCallPtr mine) mutable {
                    if (const auto good = sent_all(server.services, lender, folder_of(read)); !good)
                      return mine->reply.send(problem(good.error()));
                    serve_on_core(server, std::move(mine), step(std::move(read)));
                  });
        });
  };
}

Result<wire::Page<wire::Lease>> list_leases(Context& c) {
  std::optional<base::MachineId> machine;
  if (const auto text = c.query("machine"); !text.empty()) {
    machine = base::IdTraits<base::MachineId>::parse(text);
    if (!machine)
      return fail(Code::invalid, fmt::format("'{}' is not a machine", text.substr(0, 40)),
                  "use its id: m1", "machine");
  }
  const auto& me = c.actor;
  return page<wire::Lease>(
      c, c.state().leases,
      [&](const market::Lease& l) {
        if (machine && l.machine != *machine) return false;
        if (me.scope == market::Scope::machine) return l.machine == me.machine;
        return l.lender == me.account || l.borrower == me.account;
      },
      [&](const market::Lease& l) {
        auto out = view(c.state(), l);
        if (l.state != market::LeaseState::closed) out.doing = c.services().telemetry.doing(l.id);
        return out;
      });
}

}  // namespace

void add_job_routes(Routes& routes) {
  add_job_list_routes(routes);
  auto& leases =
      paged(routes.get("/v1/leases", "listLeases",
                       "My leases, as lender and as borrower; for a machine's token that machine's",
                       Access::agent, &list_leases));
  leases.doc.query.push_back({"machine", "string", "Only those of this machine: m1.", false});
  routes
      .change<wire::LeaseStart>("POST", "/v1/leases/{id}/start", "startLease",
                                "The work runs: billing begins", Access::agent, 200, &start)
      .numbered = true;
  routes
      .on_io<wire::LeaseFinish, wire::Lease>("POST", "/v1/leases/{id}/finish", "finishLease",
                                             "The work ended, or the lender takes the slots back",
                                             Access::agent, reporting<wire::LeaseFinish>(&finish))
      .numbered = true;
  routes.on_io<wire::LeaseCheckpoint, wire::Acknowledged>(
      "POST", "/v1/leases/{id}/checkpoint", "checkpointLease",
      "Whoever continues this work begins here", Access::agent,
      reporting<wire::LeaseCheckpoint>(&checkpoint));
  routes.on_io<wire::VolumeSave, wire::Acknowledged>(
      "POST", "/v1/leases/{id}/volume", "saveVolume", "What is in a volume of the job from now on",
      Access::agent, reporting<wire::VolumeSave>(&save_volume));
  routes
      .change<wire::Heartbeat>("POST", "/v1/machines/{id}/heartbeat", "heartbeat",
                               "The machine is alive and holds these leases", Access::agent, 200,
                               &heartbeat)
      .numbered = true;
}

}  // namespace souk::server
