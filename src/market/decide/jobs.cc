#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/packages.h"
#include "market/classes.h"
#include "market/decide/decider.h"
#include "market/decide/words.h"

namespace souk::market {
namespace {

using base::Code;
using base::fail;

base::Failure bad_terms(std::string message, std::string hint, std::string field) {
  return fail(Code::invalid, std::move(message), std::move(hint), std::move(field));
}

Result<> need_live(const Job& j) {
  if (!is_final(j.state)) return {};
  return fail(Code::conflict,
              fmt::format("job {} has ended: {}", to_string(j.id), to_string(j.state)),
              "submit a new one");
}

// Who has too few credits is told how to get some.
Result<> with_a_way_on(Result<> enough) {
  if (!enough)
    enough.error().hint =
        "use a smaller budget, lend a machine (souk lend), or ask: souk account request AMOUNT "
        "--why TEXT";
  return enough;
}

void take_over(const SubmitJob& c, Job& job) {
  job.name = c.name;
  job.kind = c.kind;
  job.slot_class = c.slot_class;
  job.terms = c.terms;
  job.work = c.work;
  job.retry = c.retry;
  job.forecast = c.forecast;
  job.planned = c.planned;
  job.planned_why = c.planned_why;
  job.also = c.also;
  job.pay = c.pay;
  job.replicate = c.replicate;
  job.expect = c.expect;
  job.most_trials = c.most_trials;
  job.sweep = c.sweep;
  job.note = c.note;
  job.gang = {.together = c.gang, .led = c.led};
  job.per_request = c.per_request;
  job.volumes = c.volumes;
  job.least_class = c.least_class;
}

}  // namespace

Result<> Decider::check_constraints(const Constraints& c) const {
  SOUK_TRY(check_words(c.packages, kListMax, "a package", "constraints.packages"));
  for (const auto& demand : c.packages)
    SOUK_TRY(base::check_demand(demand, "constraints.packages"));
  SOUK_TRY(check_words(c.regions, kListMax, "a region", "constraints.regions"));
  SOUK_TRY(
      check_words(c.providers_allowed, kListMax, "a provider", "constraints.providers_allowed"));
  SOUK_TRY(
      check_words(c.providers_refused, kListMax, "a provider", "constraints.providers_refused"));
  const std::initializer_list<std::pair<std::string_view, std::size_t>> sizes{
      {"lenders_allowed", c.lenders_allowed.size()}, {"lenders_refused", c.lenders_refused.size()}};
  for (const auto& [name, size] : sizes)
    if (size > kListMax)
      return bad_terms(fmt::format("'{}' has {} names", name, size),
                       fmt::format("{} at most", kListMax), fmt::format("constraints.{}", name));
  if (c.max_rtt_ms < 0)
    return bad_terms(fmt::format("the longest round-trip time cannot be {} ms", c.max_rtt_ms),
                     "use 0 or more", "constraints.max_rtt_ms");
  if (c.min_reliability_ppm < 0 || c.min_reliability_ppm > 1'000'000)
    return bad_terms("the least reliability is not from 0 to 1", "use for example 0.9",
                     "constraints.min_reliability");
  return {};
}

Result<> Decider::check_terms(const JobTerms& t) const {
  if (t.workers.min < 1 || t.workers.max < t.workers.min || t.workers.max > kSlotsMax)
    return bad_terms(
        fmt::format("a job cannot have {} to {} workers", t.workers.min, t.workers.max),
        fmt::format("use 1 to {}, the least first", kSlotsMax), "workers");
  if (t.limit < Credits() || t.limit > kMostPrice)
    return bad_terms(fmt::format("the limit price cannot be {}", to_string(t.limit)),
                     fmt::format("use 0 to {} credits per slot-hour", to_string(kMostPrice)),
                     "limit");
  if (t.budget <= Credits() || t.budget > base::kMostCredits)
    return bad_terms(fmt::format("the budget cannot be {}", to_string(t.budget)),
                     "use more than 0 credits", "budget");
  if (t.deadline <= now)
    return bad_terms(fmt::format("the deadline {} is not in the future", to_string(t.deadline)),
                     "use a time in the future", "deadline");
  if (t.priority < -100 || t.priority > 100)
    return bad_terms(fmt::format("the priority cannot be {}", t.priority), "use -100 to 100",
                     "priority");
  if (const auto least = least_budget(t.limit, t.workers.min, s.settings); t.budget < least)
    return bad_terms(
        fmt::format("a budget of {} does not pay {} worker{} for {} at the limit price",
                    to_string(t.budget), t.workers.min, t.workers.min == 1 ? "" : "s",
                    to_string(s.settings.shortest_term)),
        fmt::format("use a budget of at least {}", to_string(least)), "budget");
  return check_constraints(t.constraints);
}

Result<> Decider::need_room_for_job(JobId id, Credits budget) const {
  if (s.index.counts[actor_.account.value].live_jobs >= static_cast<int>(kLiveJobsPerAccount))
    return fail(Code::exhausted,
                fmt::format("you have {} live jobs, and more are not allowed", kLiveJobsPerAccount),
                "wait for one to end, or cancel one");
  SOUK_TRY(need_allowance(budget));
  if (budget == Credits()) return {};  // It comes from its sweep.
  return with_a_way_on(s.ledger.check({.kind = ledger::Kind::reserve,
                                       .from = actor_.account,
                                       .hold = hold_of(id),
                                       .amount = budget}));
}

Result<> Decider::operator()(const SubmitJob& c) {
  SOUK_TRY(need_person("submit jobs"));
  SOUK_TRY(check_line(c.name, kNameMax, "the name", "name"));
  if (c.kind.size() > kNameMax)
    return bad_terms("the name of the kind is too long",
                     fmt::format("{} characters at most", kNameMax), "kind");
  SOUK_ASSIGN(const auto* first, find_class(c.slot_class));
  std::vector classes{first};
  for (const auto id : c.also) {
    SOUK_ASSIGN(const auto* other, find_class(id));
    classes.push_back(other);
  }
  SOUK_TRY(check_classes(c.pay, classes));
  SOUK_TRY(check_least_class(c, *first));
  SOUK_TRY(check_terms(c.terms));
  if (c.work.size() > kWorkMax)
    return fail(Code::too_large,
                fmt::format("the description of the work has {} bytes", c.work.size()),
                fmt::format("{} at most; put the rest into files", kWorkMax), "work");
  if (c.forecast.size() > kTextMax || c.planned_why.size() > kTextMax)
    return fail(Code::too_large,
                fmt::format("the forecast has {} bytes", c.forecast.size() + c.planned_why.size()),
                fmt::format("{} at most", kTextMax), "forecast");
  if (c.planned < 0)
    return bad_terms(fmt::format("a job cannot have {} planned workers", c.planned), "0 or more",
                     "planned");
  if (!c.work.empty() && c.terms.workers.max > kPartsMax)
    return bad_terms(fmt::format("{} workers", c.terms.workers.max),
                     fmt::format("{} at most in one job", kPartsMax), "workers");
  if (c.retry.max < 0 || c.retry.max > kRetriesMax)
    return bad_terms(fmt::format("a part cannot have {} retries", c.retry.max),
                     fmt::format("use 0 to {}", kRetriesMax), "retry.max");
  SOUK_TRY(check_results(c));
  SOUK_TRY(check_sweep(c));
  SOUK_TRY(check_service(c));
  SOUK_TRY(check_volumes(c));
  const auto id = s.jobs.next();
  SOUK_TRY(need_room_for_job(id, c.sweep ? Credits() : c.terms.budget));
  // In its place, because a job is large.
  auto& job = std::get<JobSubmitted>(out.emplace_back(std::in_place_type<JobSubmitted>)).job;
  job.id = id;
  job.owner = actor_.account;
  job.created = now;
  take_over(c, job);
  if (c.sweep) job.token = s.jobs.at(c.sweep).token;
  if (is_spender()) {
    if (!c.sweep) job.token = actor_.token;
    job.token_budget = c.terms.budget;
  }
  return {};
}

// It begins in the smallest class that holds it, or in a larger one.
Result<> Decider::check_least_class(const SubmitJob& c, const SlotClass& first) const {
  if (!c.least_class) return {};
  SOUK_ASSIGN(const auto* least, find_class(c.least_class));
  if (!covers(first, *least))
    return bad_terms(fmt::format("class '{}' is not larger than '{}'", first.name, least->name),
                     "begin in the smallest class that holds the job, or in a larger one", "class");
  if (c.also.empty() && c.expect.empty()) return {};
  return bad_terms("a job that names its classes, or a probe, stays in them",
                   "leave least_class out", "class");
}

// How its results are judged.
Result<> Decider::check_results(const SubmitJob& c) const {
  if (c.gang && (c.work.empty() || c.pay != Pay::time || c.replicate != 1 || !c.expect.empty() ||
                 c.most_trials != 0))
    return bad_terms("this job cannot be a gang",
                     "a gang has work, is paid by time, and does it once: drop `replicate`",
                     "kind");
  if (c.led && !c.gang)
    return bad_terms("only a gang ends with its worker 0", "submit it as a gang", "kind");
  if (c.replicate < 1 || c.replicate > 2 ||
      (c.replicate == 2 && (c.work.empty() || c.pay != Pay::time)))
    return bad_terms(fmt::format("results cannot be compared between {} owners", c.replicate),
                     "use 1 or 2, and 2 only for work that is paid by time", "replicate");
  if (c.expect.empty()) return {};
  SOUK_TRY(need_operator("submit jobs whose result is known"));
  if (c.expect.size() > kNameOfBlobMax)
    return fail(Code::too_large, "the name of the expected result is too long",
                fmt::format("{} characters at most", kNameOfBlobMax), "expect");
  if (c.work.empty() || c.pay != Pay::time || c.replicate != 1)
    return bad_terms("this job cannot have an expected result",
                     "only batch work that is done once has one: drop `replicate`", "expect");
  if (c.terms.workers.min != 1 || c.terms.workers.max > kProbePartsMax)
    return bad_terms(fmt::format("a probe cannot have {} to {} workers", c.terms.workers.min,
                                 c.terms.workers.max),
                     fmt::format("use 1 to {} at most: each is one use of it", kProbePartsMax),
                     "workers");
  return {};
}

Result<> Decider::operator()(const AimProbe& c) {
  SOUK_TRY(need_operator("aim probes"));
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_live(*job));
  if (!is_probe(*job))
    return bad_terms(fmt::format("job {} is no probe", to_string(c.job)), "its result is not known",
                     "job");
  if (c.machine) {
    SOUK_ASSIGN(const auto* machine, find(s.machines, c.machine));
    if (std::ranges::find(job->probed, machine->owner) != job->probed.end())
      return fail(Code::conflict,
                  fmt::format("the owner of {} had probe {} before", to_string(c.machine),
                              to_string(c.job)),
                  "aim another");
  }
  if (job->aimed != c.machine) out.push_back(JobAimed{c.job, c.machine});
  return {};
}

Result<> Decider::operator()(const ResizeJob& c) {
  SOUK_TRY(need_operator("resize jobs"));
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_live(*job));
  const auto& [min, max] = job->terms.workers;
  if (c.workers < min || c.workers > max)
    return bad_terms(fmt::format("{} workers", c.workers),
                     fmt::format("the job wants {} to {}", min, max), "workers");
  if (c.why.size() > kTextMax)
    return fail(Code::too_large, fmt::format("the reason has {} bytes", c.why.size()),
                fmt::format("{} at most", kTextMax), "why");
  if (c.workers != aimed_workers(*job)) out.push_back(JobResized{c.job, c.workers, c.why});
  if (c.promptly) drain_surplus(*job, c.workers);
  return {};
}

Result<> Decider::operator()(const MoveJob& c) {
  SOUK_TRY(need_operator("move jobs"));
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_live(*job));
  SOUK_ASSIGN(const auto* to, find_class(c.slot_class));
  if (std::ranges::find(job->also, c.slot_class) == job->also.end())
    return bad_terms(fmt::format("job {} may not move to class '{}'", to_string(c.job), to->name),
                     "its owner names the classes it may be in when submitting it", "class");
  if (to->retired)
    return bad_terms(fmt::format("class '{}' is retired", to->name), "choose another class",
                     "class");
  const auto& [min, max] = job->terms.workers;
  if (c.workers != 0 && (c.workers < min || c.workers > max))
    return bad_terms(
        fmt::format("{} workers", c.workers),
        fmt::format("the job wants {} to {}; 0 means as many as it may have", min, max), "workers");
  if (c.why.size() > kTextMax)
    return fail(Code::too_large, fmt::format("the reason has {} bytes", c.why.size()),
                fmt::format("{} at most", kTextMax), "why");
  for (const auto id : job->leases)
    close(s.leases.at(id), LeaseOutcome::job, fmt::format("the job moves to class {}", to->name));
  out.push_back(JobMoved{c.job, c.slot_class, c.workers, c.why});
  return {};
}

Result<> Decider::operator()(const LearnProfile& c) {
  SOUK_TRY(need_operator("teach profiles"));
  if (c.key.empty() || c.key.size() > kNameOfBlobMax)
    return bad_terms(fmt::format("the key has {} characters", c.key.size()),
                     fmt::format("1 to {} characters", kNameOfBlobMax), "key");
  if (c.text.size() > kProfileMax)
    return fail(Code::too_large, fmt::format("the profile has {} bytes", c.text.size()),
                fmt::format("{} at most", kProfileMax), "text");
  out.push_back(ProfileLearnt{c.key, c.text});
  return {};
}

Result<> Decider::operator()(const ChangeJob& c) {
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_job(*job));
  SOUK_TRY(need_live(*job));
  SOUK_TRY(need_active(job->owner));
  if (job->sweep && !is_system())
    return fail(
        Code::conflict,
        fmt::format("job {} is a trial of sweep {}", to_string(c.job), to_string(job->sweep)),
        fmt::format("change the sweep: souk job edit {}", to_string(job->sweep)));
  SOUK_TRY(check_terms(c.terms));
  if (c.terms == job->terms) return {};
  if (!job->work.empty() && c.terms.workers.max != job->terms.workers.max)
    return bad_terms(
        fmt::format("job {} has {} numbered parts", to_string(c.job), job->terms.workers.max),
        "submit a new job for another number of workers", "workers");
  const auto more = c.terms.budget - job->terms.budget;
  SOUK_TRY(need_allowance(more));
  if (more > Credits())
    SOUK_TRY(job->sweep ? need_credits_of(s.jobs.at(job->sweep), more)
                        : s.ledger.check({.kind = ledger::Kind::reserve,
                                          .from = job->owner,
                                          .hold = hold_of(job->id),
                                          .amount = more}));
  if (const auto free = s.free_budget(*job); more + free < Credits())
    return bad_terms(
        fmt::format("{} of the budget is spent or promised to running workers",
                    to_string(job->terms.budget - free)),
        fmt::format("use a budget of at least {}", to_string(job->terms.budget - free)), "budget");
  out.push_back(JobChanged{c.job, c.terms, is_spender() ? actor_.token : TokenId()});
  for (const auto id : job->trials) {
    auto terms = s.jobs.at(id).terms;  // Workers, budget and deadline are its own.
    terms.limit = c.terms.limit;
    terms.priority = c.terms.priority;
    terms.constraints = c.terms.constraints;
    if (terms != s.jobs.at(id).terms) out.push_back(JobChanged{id, std::move(terms), {}});
  }
  drain_surplus(*job, c.terms.workers.max);
  audit_other(job->owner, "change job", to_string(c.job));
  return {};
}

void Decider::drain_surplus(const Job& j, std::int32_t most) {
  auto surplus = j.held + j.done - most;
  for (auto it = j.leases.rbegin(); it != j.leases.rend() && surplus > 0; ++it) {
    const auto& l = s.leases.at(*it);
    drain(l, "the job wants fewer workers");
    surplus -= l.slots;
  }
}

void Decider::pause_job(const Job& j, std::string reason) {
  for (const auto id : j.leases) close(s.leases.at(id), LeaseOutcome::job, reason);
  for (const auto id : j.trials)
    if (const auto& trial = s.jobs.at(id); trial.state != JobState::paused)
      pause_job(trial, fmt::format("sweep {} is paused", to_string(j.id)));
  out.push_back(JobPaused{j.id, std::move(reason)});
}

Result<> Decider::operator()(const PauseJob& c) {
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_job(*job));
  SOUK_TRY(need_live(*job));
  if (job->state == JobState::paused) return {};
  pause_job(*job, is_system() && !c.reason.empty() ? c.reason
                  : job->owner == actor_.account   ? "by its owner"
                                                   : "by an operator");
  audit_other(job->owner, "pause job", to_string(c.job));
  return {};
}

Result<> Decider::operator()(const ResumeJob& c) {
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_job(*job));
  SOUK_TRY(need_live(*job));
  SOUK_TRY(need_active(job->owner));
  if (job->state != JobState::paused) return {};
  if (job->sweep && s.jobs.at(job->sweep).state == JobState::paused)
    return fail(Code::conflict, fmt::format("sweep {} is paused", to_string(job->sweep)),
                fmt::format("souk job resume {}", to_string(job->sweep)));
  out.push_back(JobResumed{c.job});
  for (const auto id : job->trials)
    if (s.jobs.at(id).state == JobState::paused) out.push_back(JobResumed{id});
  audit_other(job->owner, "resume job", to_string(c.job));
  return {};
}

void Decider::end_job(const Job& j, JobState state, std::string reason) {
  if (!ended_.insert(j.id).second) return;  // With its sweep, a moment ago.
  for (const auto id : j.trials)
    end_job(s.jobs.at(id), JobState::cancelled,
            fmt::format("sweep {} has ended: {}", to_string(j.id), to_string(state)));
  for (const auto id : j.leases) close(s.leases.at(id), LeaseOutcome::job, reason);
  pay_undecided(j);
  out.push_back(JobEnded{j.id, state, std::move(reason)});
}

Result<> Decider::operator()(const CancelJob& c) {
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_job(*job));
  if (c.reason.size() > kTextMax)
    return bad_terms("the reason is too long", fmt::format("{} characters at most", kTextMax),
                     "reason");
  SOUK_TRY(need_live(*job));
  const auto by = job->owner == actor_.account ? "by its owner" : "by an operator";
  end_job(*job, JobState::cancelled, c.reason.empty() ? by : c.reason);
  audit_other(job->owner, "cancel job", to_string(c.job), c.reason);
  return {};
}

}  // namespace souk::market
