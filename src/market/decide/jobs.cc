#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "market/classes.h"
#include "market/decide/decider.h"

namespace souk::market {
namespace {

using base::Code;
using base::fail;

base::Failure bad(std::string message, std::string hint, std::string field) {
  return fail(Code::invalid, std::move(message), std::move(hint), std::move(field));
}

Result<> need_live(const Job& j) {
  if (!is_final(j.state)) return {};
  return fail(Code::conflict,
              fmt::format("job {} has ended: {}", to_string(j.id), to_string(j.state)),
              "submit a new one");
}

}  // namespace

Result<> Decider::check_constraints(const Constraints& c) const {
  const std::initializer_list<std::pair<std::string_view, std::size_t>> sizes{
      {"packages", c.packages.size()},
      {"regions", c.regions.size()},
      {"lenders_allowed", c.lenders_allowed.size()},
      {"lenders_refused", c.lenders_refused.size()},
      {"providers_allowed", c.providers_allowed.size()},
      {"providers_refused", c.providers_refused.size()}};
  for (const auto& [name, size] : sizes)
    if (size > kListMax)
      return bad(fmt::format("{} names in '{}'", size, name), fmt::format("{} at most", kListMax),
                 fmt::format("constraints.{}", name));
  if (c.max_rtt_ms < 0)
    return bad(fmt::format("a round-trip time of {} ms", c.max_rtt_ms), "use 0 or more",
               "constraints.max_rtt_ms");
  if (c.min_reliability_ppm < 0 || c.min_reliability_ppm > 1'000'000)
    return bad("a reliability outside 0 to 1", "use for example 0.9",
               "constraints.min_reliability");
  return {};
}

Result<> Decider::check_terms(const JobTerms& t) const {
  if (t.workers.min < 1 || t.workers.max < t.workers.min || t.workers.max > kSlotsMax)
    return bad(fmt::format("{} to {} workers", t.workers.min, t.workers.max),
               fmt::format("use 1 to {}, the least first", kSlotsMax), "workers");
  if (t.limit < Credits() || t.limit > kMostPrice)
    return bad(fmt::format("a limit price of {}", to_string(t.limit)),
               fmt::format("use 0 to {} credits per slot-hour", to_string(kMostPrice)), "limit");
  if (t.budget <= Credits() || t.budget > base::kMostCredits)
    return bad(fmt::format("a budget of {}", to_string(t.budget)), "use more than 0 credits",
               "budget");
  if (t.deadline <= now)
    return bad(fmt::format("a deadline of {}", to_string(t.deadline)), "use a time in the future",
               "deadline");
  if (t.priority < -100 || t.priority > 100)
    return bad(fmt::format("a priority of {}", t.priority), "use -100 to 100", "priority");
  if (const auto least = least_budget(t.limit, t.workers.min, s.settings); t.budget < least)
    return bad(fmt::format("a budget of {} does not pay {} workers for {} at the limit price",
                           to_string(t.budget), t.workers.min, to_string(s.settings.shortest_term)),
               fmt::format("use a budget of at least {}", to_string(least)), "budget");
  return check_constraints(t.constraints);
}

Result<> Decider::operator()(const SubmitJob& c) {
  SOUK_TRY(need_person("submit jobs"));
  if (c.name.size() > kNameMax)
    return bad("the name is too long", fmt::format("{} characters at most", kNameMax), "name");
  if (c.kind.size() > kNameMax)
    return bad("the name of the kind is too long", fmt::format("{} characters at most", kNameMax),
               "kind");
  SOUK_ASSIGN(const auto* first, find_class(c.slot_class));
  std::vector classes{first};
  for (const auto id : c.also) {
    SOUK_ASSIGN(const auto* other, find_class(id));
    classes.push_back(other);
  }
  SOUK_TRY(check_classes(c.pay, classes));
  SOUK_TRY(check_terms(c.terms));
  if (c.work.size() > kWorkMax)
    return fail(Code::too_large,
                fmt::format("the description of the work has {} bytes", c.work.size()),
                fmt::format("{} at most; put the rest into files", kWorkMax), "work");
  if (c.forecast.size() > kTextMax || c.planned_why.size() > kTextMax)
    return fail(Code::too_large,
                fmt::format("a forecast of {} bytes", c.forecast.size() + c.planned_why.size()),
                fmt::format("{} at most", kTextMax), "forecast");
  if (c.planned < 0)
    return bad(fmt::format("{} planned workers", c.planned), "0 or more", "planned");
  if (!c.work.empty() && c.terms.workers.max > kPartsMax)
    return bad(fmt::format("{} workers", c.terms.workers.max),
               fmt::format("{} at most in one job", kPartsMax), "workers");
  if (c.retry.max < 0 || c.retry.max > kRetriesMax)
    return bad(fmt::format("{} retries", c.retry.max), fmt::format("use 0 to {}", kRetriesMax),
               "retry.max");
  if (s.index.counts[actor_.account.value].live_jobs >= static_cast<int>(kLiveJobsPerAccount))
    return fail(Code::exhausted, fmt::format("you have {} live jobs", kLiveJobsPerAccount),
                "wait for one to end, or cancel one");
  const auto id = s.jobs.next();
  SOUK_TRY(s.ledger.check({.kind = ledger::Kind::reserve,
                           .from = actor_.account,
                           .hold = hold_of(id),
                           .amount = c.terms.budget}));
  out.push_back(JobSubmitted{{.id = id,
                              .owner = actor_.account,
                              .name = c.name,
                              .kind = c.kind,
                              .slot_class = c.slot_class,
                              .terms = c.terms,
                              .created = now,
                              .work = c.work,
                              .retry = c.retry,
                              .forecast = c.forecast,
                              .planned = c.planned,
                              .planned_why = c.planned_why,
                              .also = c.also,
                              .pay = c.pay}});
  return {};
}

Result<> Decider::operator()(const ResizeJob& c) {
  SOUK_TRY(need_operator("resize jobs"));
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_live(*job));
  const auto& [min, max] = job->terms.workers;
  if (c.workers < min || c.workers > max)
    return bad(fmt::format("{} workers", c.workers),
               fmt::format("the job wants {} to {}", min, max), "workers");
  if (c.why.size() > kTextMax)
    return fail(Code::too_large, fmt::format("a reason of {} bytes", c.why.size()),
                fmt::format("{} at most", kTextMax), "why");
  if (c.workers != aimed_workers(*job)) out.push_back(JobResized{c.job, c.workers, c.why});
  return {};
}

Result<> Decider::operator()(const MoveJob& c) {
  SOUK_TRY(need_operator("move jobs"));
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_live(*job));
  SOUK_ASSIGN(const auto* to, find_class(c.slot_class));
  if (std::ranges::find(job->also, c.slot_class) == job->also.end())
    return bad(fmt::format("job {} may not move to class '{}'", to_string(c.job), to->name),
               "its owner names the classes it may be in when submitting it", "class");
  if (to->retired)
    return bad(fmt::format("class '{}' is retired", to->name), "choose another class", "class");
  const auto& [min, max] = job->terms.workers;
  if (c.workers != 0 && (c.workers < min || c.workers > max))
    return bad(fmt::format("{} workers", c.workers),
               fmt::format("the job wants {} to {}; 0 means as many as it may have", min, max),
               "workers");
  if (c.why.size() > kTextMax)
    return fail(Code::too_large, fmt::format("a reason of {} bytes", c.why.size()),
                fmt::format("{} at most", kTextMax), "why");
  for (const auto id : job->leases)
    close(s.leases.at(id), LeaseOutcome::job, fmt::format("the job moves to class {}", to->name));
  out.push_back(JobMoved{c.job, c.slot_class, c.workers, c.why});
  return {};
}

Result<> Decider::operator()(const LearnProfile& c) {
  SOUK_TRY(need_operator("teach profiles"));
  if (c.key.empty() || c.key.size() > kNameOfBlobMax)
    return bad(fmt::format("a key of {} characters", c.key.size()),
               fmt::format("1 to {} characters", kNameOfBlobMax), "key");
  if (c.text.size() > kProfileMax)
    return fail(Code::too_large, fmt::format("a profile of {} bytes", c.text.size()),
                fmt::format("{} at most", kProfileMax), "text");
  out.push_back(ProfileLearnt{c.key, c.text});
  return {};
}

Result<> Decider::operator()(const ChangeJob& c) {
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_owner(job->owner, c.job));
  SOUK_TRY(need_live(*job));
  SOUK_TRY(need_active(job->owner));
  SOUK_TRY(check_terms(c.terms));
  if (c.terms == job->terms) return {};
  if (!job->work.empty() && c.terms.workers.max != job->terms.workers.max)
    return bad(
        fmt::format("job {} has {} numbered parts", to_string(c.job), job->terms.workers.max),
        "submit a new job for another number of workers", "workers");
  const auto more = c.terms.budget - job->terms.budget;
  if (more > Credits())
    SOUK_TRY(s.ledger.check({.kind = ledger::Kind::reserve,
                             .from = job->owner,
                             .hold = hold_of(job->id),
                             .amount = more}));
  if (const auto free = s.free_budget(*job); more + free < Credits())
    return bad(fmt::format("{} of the budget is spent or promised to running workers",
                           to_string(job->terms.budget - free)),
               fmt::format("use a budget of at least {}", to_string(job->terms.budget - free)),
               "budget");
  out.push_back(JobChanged{c.job, c.terms});
  // More workers than it now wants: the newest leave, with notice.
  auto surplus = job->held + job->done - c.terms.workers.max;
  for (auto it = job->leases.rbegin(); it != job->leases.rend() && surplus > 0; ++it) {
    const auto& l = s.leases.at(*it);
    drain(l, "the job wants fewer workers");
    surplus -= l.slots;
  }
  audit_other(job->owner, "change job", to_string(c.job));
  return {};
}

void Decider::pause_job(const Job& j, std::string reason) {
  for (const auto id : j.leases) close(s.leases.at(id), LeaseOutcome::job, reason);
  out.push_back(JobPaused{j.id, std::move(reason)});
}

Result<> Decider::operator()(const PauseJob& c) {
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_owner(job->owner, c.job));
  SOUK_TRY(need_live(*job));
  if (job->state == JobState::paused) return {};
  pause_job(*job, job->owner == actor_.account ? "by its owner" : "by an operator");
  audit_other(job->owner, "pause job", to_string(c.job));
  return {};
}

Result<> Decider::operator()(const ResumeJob& c) {
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_owner(job->owner, c.job));
  SOUK_TRY(need_live(*job));
  SOUK_TRY(need_active(job->owner));
  if (job->state != JobState::paused) return {};
  out.push_back(JobResumed{c.job});
  audit_other(job->owner, "resume job", to_string(c.job));
  return {};
}

void Decider::end_job(const Job& j, JobState state, std::string reason) {
  for (const auto id : j.leases) close(s.leases.at(id), LeaseOutcome::job, reason);
  out.push_back(JobEnded{j.id, state, std::move(reason)});
}

Result<> Decider::operator()(const CancelJob& c) {
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  SOUK_TRY(need_owner(job->owner, c.job));
  if (c.reason.size() > kTextMax)
    return bad("the reason is too long", fmt::format("{} characters at most", kTextMax), "reason");
  SOUK_TRY(need_live(*job));
  const auto by = job->owner == actor_.account ? "by its owner" : "by an operator";
  end_job(*job, JobState::cancelled, c.reason.empty() ? by : c.reason);
  audit_other(job->owner, "cancel job", to_string(c.job), c.reason);
  return {};
}

}  // namespace souk::market
