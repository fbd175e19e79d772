#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "market/decide/decider.h"
#include "market/eligible.h"

namespace souk::market {
namespace {

using base::Code;
using base::fail;

}  // namespace

Result<const Lease*> Decider::reported(LeaseId id, std::int32_t epoch) const {
  SOUK_ASSIGN(const auto* lease, find(s.leases, id));
  const auto* machine = s.machines.find(lease->machine);
  if (machine == nullptr) return fail(Code::not_found, "its machine was removed");
  SOUK_TRY(need_agent(*machine));
  if (lease->epoch != epoch)
    return fail(Code::conflict,
                fmt::format("lease {} has epoch {}, not {}", to_string(id), lease->epoch, epoch),
                "stop this work: it was given to somebody else", "epoch");
  if (lease->state == LeaseState::closed)
    return fail(Code::conflict,
                fmt::format("lease {} is closed: {}", to_string(id), to_string(lease->outcome)),
                "stop this work: it is no longer paid");
  return lease;
}

// Bills [begin of term, until) less what the term has been billed, so that roundings never add up.
// The lender's share follows the same rule; a micro-credit that rounding would take from the
// platform waits for the next interval. Accepted work is billed up to the length of the term, which
// is what the job has promised; what is more goes to the next term.
void Decider::settle(const Lease& l, Time until) {
  if (l.state == LeaseState::granted) return;
  const bool by_work = paid_by_work(s.jobs.at(l.job));
  const auto end = std::min(until, l.term.until);
  // Work may have been accepted since, in no time.
  const bool owed = by_work && l.worked > Duration();
  if (end > l.settled_until || owed || (l.next && end == l.term.until)) {
    const auto stop = std::max(end, l.settled_until);
    const auto time = stop - std::max(l.term.from, l.started);
    bill(l, by_work ? std::min(l.worked, term_length(l)) : time, stop);
  }
  if (!l.next || until <= l.next->from) return;
  auto renewed = l;
  renewed.term = *l.next;
  renewed.term_paid = renewed.term_earned = Credits();
  const auto stop = std::min(until, l.next->until);
  const auto carried = std::max(l.worked - term_length(l), Duration());
  bill(renewed, by_work ? std::min(carried, term_length(renewed)) : stop - l.next->from, stop);
}

void Decider::bill(const Lease& l, Duration time, Time until) {
  const auto pays = base::cost(l.term.pays, l.slots, time) - l.term_paid;
  const auto gross = base::cost(l.term.gets, l.slots, time);
  const auto net = gross - base::share(gross, l.term.fee_ppm) - l.term_earned;
  out.emplace_back(std::in_place_type<LeaseSettled>, l.id, until, pays,
                   pays - std::clamp(net, Credits(), pays));
}

void Decider::pay(const PartAnswer& answer) {
  if (s.leases.find(answer.lease) != nullptr)
    out.push_back(LeaseSettled{answer.lease, answer.until, answer.owed, answer.fee});
}

void Decider::pay_undecided(const Job& j) {
  for (const auto& part : j.parts)
    for (const auto& answer : part.answers) pay(answer);
}

void Decider::compare(const Lease& l, const FinishLease& c) {
  constexpr std::size_t most = 3;  // Two differ, and a third decides.
  const auto& job = s.jobs.at(l.job);
  const auto* part = job.part(l.part);
  const auto answers = part == nullptr ? std::vector<PartAnswer>() : part->answers;
  const auto same = std::ranges::find(answers, c.result, &PartAnswer::result);
  if (same != answers.end()) {
    pay(*same);
    close(l, LeaseOutcome::completed, c.detail, c.result);
    std::get<LeaseClosed>(out.back()).decides = true;
    if (job.leases.size() == 1 && job.done + 1 >= job.terms.workers.max)
      out.push_back(JobEnded{job.id, JobState::succeeded, std::string(kAllFinished)});
    return;
  }
  // What it would be paid now; the event says so, and nothing moves.
  const auto before = out.size();
  settle(l, now);
  LeaseClosed closed{l.id, LeaseOutcome::completed, c.detail, c.result};
  if (out.size() > before) {
    const auto bill = std::get<LeaseSettled>(out.back());
    out.pop_back();
    closed.owed = bill.amount;
    closed.fee = bill.fee;
  }
  out.push_back(std::move(closed));
  if (answers.size() + 1 < most) return;
  const auto bill = std::get<LeaseClosed>(out.back());
  out.push_back(LeaseSettled{l.id, std::min(now, l.term.until), bill.owed, bill.fee});
  for (const auto id : job.leases)
    if (id != l.id) close(s.leases.at(id), LeaseOutcome::job, "another worker failed");
  pay_undecided(job);
  out.push_back(
      JobEnded{job.id, JobState::failed,
               fmt::format("worker {}: {} machines gave {} different results: replicate is "
                           "for programs that always give the same",
                           l.part, most, most)});
}

// The operator may be wrong about the result. So nobody is blamed until somebody has given it; and
// when two owners give the same other one, the probe ends.
void Decider::refuse_result(const Lease& l, const FinishLease& c) {
  const auto& job = s.jobs.at(l.job);
  const auto gave = [&](const std::string& result) {
    return std::ranges::any_of(
        job.parts, [&](const JobPart& part) { return part.done && part.result == result; });
  };
  const bool confirmed = gave(job.expect);
  if (confirmed) {
    out.push_back(LeaseClosed{.lease = l.id,
                              .outcome = LeaseOutcome::completed,
                              .detail = c.detail,
                              .result = c.result,
                              .wrong = true});
    if (c.doubts) out.push_back(MachineJudged{l.machine, "the result of its work was wrong", true});
  } else {
    close(l, LeaseOutcome::completed, c.detail, c.result);
  }
  if (!confirmed && !c.result.empty() && gave(c.result)) {
    for (const auto id : job.leases)
      if (id != l.id) close(s.leases.at(id), LeaseOutcome::job, "the probe has ended");
    out.push_back(JobEnded{job.id, JobState::failed,
                           fmt::format("two owners gave {}, which is not what was expected: is "
                                       "that right?",
                                       c.result)});
  } else if (job.leases.size() == 1 && job.done + l.slots >= job.terms.workers.max) {
    out.push_back(JobEnded{job.id, JobState::succeeded, std::string(kAllFinished)});
  }
}

// A unit that began in one term and was accepted in the next may leave more work than the last term
// is long. The rest is paid out of what the job has not promised to others.
void Decider::settle_overtime(const Lease& l) {
  auto& promised = promised_[l.job];
  const auto in_term = base::cost(l.term.pays, l.slots, term_length(l));
  const auto free = s.free_budget(s.jobs.at(l.job)) - promised;
  auto settled = l;
  settled.term_paid = in_term;
  const auto gross = base::cost(l.term.gets, l.slots, term_length(l));
  settled.term_earned = gross - base::share(gross, l.term.fee_ppm);
  const auto most = base::affordable(l.term.pays, l.slots, in_term + free);
  const auto time = std::min(l.worked, most);
  bill(settled, time, std::max(l.settled_until, std::min(now, l.term.until)));
  promised += base::cost(l.term.pays, l.slots, time) - in_term;
}

void Decider::close(const Lease& l, LeaseOutcome outcome, std::string detail, std::string result,
                    Blame blame) {
  const bool by_work = paid_by_work(s.jobs.at(l.job));
  // Silence is not work: what was not reported is not paid, nor is a program that never ran. Work
  // that was accepted is.
  const bool nothing_ran = outcome == LeaseOutcome::lost || outcome == LeaseOutcome::unstarted;
  if (!nothing_ran || by_work) settle(l, now);
  if (by_work && !l.next && l.worked > term_length(l)) settle_overtime(l);
  ++closed_[l.job];
  out.push_back(LeaseClosed{.lease = l.id,
                            .outcome = outcome,
                            .detail = std::move(detail),
                            .result = std::move(result),
                            .keeps_try = blame.keeps_try,
                            .excused = blame.excused});
}

void Decider::give_up(const Lease& l, LeaseOutcome outcome, std::string detail, std::string result,
                      Blame blame) {
  const auto& job = s.jobs.at(l.job);
  close(l, outcome, detail, std::move(result), blame);
  touched_.insert(job.id);
  const bool failed = outcome == LeaseOutcome::failed;
  if (is_gang(job) && failed) return worker_failed(l, detail);
  if (is_gang(job) && job.gang.phase == GangPhase::ending) return worker_left(l, detail);
  if (job.work.empty()) {
    if (!failed) return;  // The next round finds another machine.
  } else {
    if (paid_by_work(job) && !failed) return;
    const auto* part = job.part(l.part);
    const auto tries = part == nullptr ? 0 : part->tries;
    if ((failed ? job.retry.failed : job.retry.lost) && tries < job.retry.max)
      return worker_left(l, detail);
    detail = fmt::format("worker {}: {}{}", l.part, detail,
                         tries > 0 ? fmt::format(" ({} tries)", tries + 1) : "");
  }
  for (const auto id : job.leases)
    if (id != l.id) close(s.leases.at(id), LeaseOutcome::job, "another worker failed");
  pay_undecided(job);
  out.push_back(JobEnded{job.id, JobState::failed, std::move(detail)});
  ended_.insert(job.id);
}

void Decider::drain(const Lease& l, std::string reason) {
  if (l.state == LeaseState::closed || l.state == LeaseState::draining) return;
  if (leaving_.contains(l.id)) return;  // With its gang, a moment ago.
  if (l.state == LeaseState::granted) {
    close(l, LeaseOutcome::released, reason);
    return worker_left(l, reason);
  }
  // Rolls into the next term first, if that has begun.
  if (!is_replicated(s.jobs.at(l.job))) settle(l, now);
  out.push_back(LeaseDraining{l.id, now + s.settings.drain, reason});
  worker_leaves(l, reason);
}

void Decider::warn_if_low(const Job& j, Credits about_to_pay) {
  if (j.warned || is_final(j.state)) return;
  __int128 burn = 0;  // Per hour. Wide, because nothing bounds what a long runway would cost.
  for (const auto id : j.leases) {
    const auto& l = s.leases.at(id);
    burn += static_cast<__int128>(l.term.pays.micro) * l.slots;
  }
  const auto left = s.ledger.hold(hold_of(j.id))->left - about_to_pay;
  if (static_cast<__int128>(left.micro) * base::hours(1).us < burn * s.settings.low_escrow.us)
    out.push_back(JobWarned{j.id});
}

Result<> Decider::operator()(const StartLease& c) {
  SOUK_ASSIGN(const auto* lease, reported(c.lease, c.epoch));
  if (lease->state != LeaseState::granted) return {};
  if (now >= lease->term.until)
    return fail(Code::conflict, fmt::format("the term of lease {} is over", to_string(c.lease)),
                "stop this work: it would not be paid");
  if (is_gang(s.jobs.at(lease->job)))
    make_ready(*lease);
  else
    out.push_back(LeaseStarted{c.lease});
  audit_other(lease->lender, "start lease", to_string(c.lease));
  return {};
}

Result<> Decider::operator()(const Heartbeat& c) {
  SOUK_ASSIGN(const auto* machine, find(s.machines, c.machine));
  SOUK_TRY(need_agent(*machine));
  if (!machine->online) out.push_back(MachineOnline{c.machine});
  // Few, so in order rather than in trees. A lease named twice is paid once.
  std::vector<LeaseId> seen;
  std::vector<std::pair<JobId, Credits>> paid;
  for (const auto& held : c.leases) {
    const auto* l = s.leases.find(held.lease);
    // The answer tells the agent which of its leases still stand; a stale one is not an error.
    if (l == nullptr || l->machine != c.machine || l->epoch != held.epoch) continue;
    if (l->state != LeaseState::running && l->state != LeaseState::draining) continue;
    const auto place = std::ranges::lower_bound(seen, l->id);
    if (place != seen.end() && *place == l->id) continue;
    seen.insert(place, l->id);
    if (is_replicated(s.jobs.at(l->job))) continue;
    const bool term_over = now >= l->term.until && l->settled_until < l->term.until;
    if (now - l->settled_until < s.settings.settle_every && !term_over) continue;
    const auto before = out.size();
    settle(*l, now);
    auto at = std::ranges::lower_bound(paid, l->job, {}, &std::pair<JobId, Credits>::first);
    if (at == paid.end() || at->first != l->job) at = paid.insert(at, {l->job, Credits()});
    for (auto i = before; i < out.size(); ++i) at->second += std::get<LeaseSettled>(out[i]).amount;
  }
  for (const auto& [job, amount] : paid) warn_if_low(s.jobs.at(job), amount);
  if (!out.empty()) audit_other(machine->owner, "heartbeat", to_string(c.machine));
  return {};
}

Result<> Decider::operator()(const FinishLease& c) {
  SOUK_ASSIGN(const auto* lease, reported(c.lease, c.epoch));
  const bool unstarted = lease->state == LeaseState::granted;
  const auto known = {LeaseOutcome::completed, LeaseOutcome::failed, LeaseOutcome::released,
                      LeaseOutcome::unstarted};
  if (std::ranges::find(known, c.outcome) == known.end())
    return fail(Code::invalid,
                fmt::format("a lease cannot be finished as '{}'", to_string(c.outcome)),
                "use completed, failed, released or unstarted", "outcome");
  if (c.detail.size() > kTextMax || c.result.size() > kNameOfBlobMax)
    return fail(Code::too_large, "the detail or the result is too long",
                fmt::format("{} and {} characters at most", kTextMax, kNameOfBlobMax), "detail");
  if (unstarted && c.outcome == LeaseOutcome::completed)
    return fail(Code::conflict, fmt::format("lease {} has not started", to_string(c.lease)),
                "report that it runs first", "outcome");
  // A start is reported before the sandbox is known to have managed it. What was paid for has run.
  if (c.outcome == LeaseOutcome::unstarted && lease->paid > Credits())
    return fail(Code::conflict, fmt::format("lease {} has started", to_string(c.lease)),
                "report it as failed or released", "outcome");
  const auto& job = s.jobs.at(lease->job);
  if (is_replicated(job) && c.outcome == LeaseOutcome::completed && c.result.empty())
    return fail(Code::invalid, fmt::format("lease {} has no result", to_string(c.lease)),
                "name the folder of its outputs: it is compared with another's", "result");
  if (came_to_nothing(c.outcome)) {
    give_up(*lease, c.outcome, c.detail, c.result,
            {.excused = c.excused && c.outcome == LeaseOutcome::unstarted});
  } else if (is_replicated(job) && c.outcome == LeaseOutcome::completed) {
    compare(*lease, c);
  } else if (is_probe(job) && c.outcome == LeaseOutcome::completed && c.result != job.expect) {
    refuse_result(*lease, c);
  } else if (is_gang(job)) {
    close(*lease, c.outcome, c.detail, c.result);
    if (c.outcome == LeaseOutcome::completed)
      worker_done(*lease);
    else
      worker_left(*lease, c.detail);
  } else {
    close(*lease, c.outcome, c.detail, c.result);
    // Of a job with work every part counts; else those who came.
    const auto needed = job.work.empty() ? job.terms.workers.min : job.terms.workers.max;
    if (c.outcome == LeaseOutcome::completed && job.leases.size() == 1 &&
        job.done + lease->slots >= needed)
      out.push_back(JobEnded{job.id, JobState::succeeded, std::string(kAllFinished)});
  }
  audit_other(lease->lender, "finish lease", to_string(c.lease), c.detail);
  return {};
}

Result<> Decider::operator()(const CheckpointLease& c) {
  SOUK_ASSIGN(const auto* lease, reported(c.lease, c.epoch));
  const auto& job = s.jobs.at(lease->job);
  if (job.work.empty())
    return fail(Code::conflict, fmt::format("job {} has no parts to save", to_string(job.id)));
  if (c.checkpoint.size() > kNameOfBlobMax)
    return fail(Code::too_large, "the name of the checkpoint is too long",
                fmt::format("{} characters at most", kNameOfBlobMax), "checkpoint");
  const auto* part = job.part(lease->part);
  if (part != nullptr && part->checkpoint == c.checkpoint) return {};
  out.push_back(LeaseCheckpointed{c.lease, c.checkpoint});
  return {};
}

Result<> Decider::operator()(const AcceptWork& c) {
  SOUK_TRY(need_operator("accept work"));
  SOUK_ASSIGN(const auto* lease, find(s.leases, c.lease));
  const auto* job = s.jobs.find(lease->job);  // It may be forgotten before its leases are.
  if (job != nullptr && c.number > 0 && c.number <= job->paid_through) return {};
  SOUK_TRY(reported(c.lease, c.epoch));
  if (!paid_by_work(*job))
    return fail(Code::conflict, fmt::format("lease {} is paid for its time", to_string(c.lease)));
  if (lease->state == LeaseState::granted)
    return fail(Code::conflict, fmt::format("lease {} has not started", to_string(c.lease)));
  // Whoever measured it, nobody works longer than the lease has run.
  const auto most = now - lease->started - lease->worked_before - lease->worked;
  const auto worked = std::clamp(c.worked, Duration(), std::max(most, Duration()));
  if (worked > Duration()) out.push_back(LeaseWorked{c.lease, worked, c.number});
  return {};
}

Result<> Decider::operator()(const ReportResult& c) {
  SOUK_TRY(need_operator("report results"));
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  if (c.result.size() > kNameOfBlobMax || c.reason.size() > kTextMax)
    return fail(Code::too_large, "the name of the result or the reason is too long");
  const bool failed = c.result.empty();
  if (!failed && job->result != c.result) out.push_back(JobResult{c.job, c.result});
  if (c.complete && !is_final(job->state))
    end_job(*job, failed ? JobState::failed : JobState::succeeded, c.reason);
  return {};
}

Result<> Decider::operator()(const ExpireLease& c) {
  SOUK_ASSIGN(const auto* lease, find(s.leases, c.lease));
  SOUK_TRY(need_operator("expire leases"));
  if (lease->state == LeaseState::closed) return {};
  if (c.untaken) {  // Nothing was begun: the next round finds another machine.
    if (lease->state != LeaseState::granted) return {};
    constexpr std::string_view why = "its machine did not take it up";
    close(*lease, LeaseOutcome::unstarted, std::string(why), {}, {.keeps_try = true});
    worker_left(*lease, why);
    return {};
  }
  give_up(*lease, LeaseOutcome::lost, "the machine fell silent");
  if (!is_system()) audit("expire lease", to_string(c.lease));
  return {};
}

// Is the lease among the workers that the job wants, its oldest first?
bool Decider::still_wanted(const Job& job, const Lease& lease) const {
  auto room = aimed_workers(job) - job.done;
  for (const auto id : job.leases) {
    const auto& l = s.leases.at(id);
    if (l.state != LeaseState::draining) room -= l.slots;
    if (id == lease.id) break;
  }
  return room >= 0;
}

// What a new term of this lease costs now: the price that the operator posts, else a step from what
// it costs now towards what others pay.
Credits Decider::price_in_force(const Lease& l) const {
  const auto& slot_class = s.slot_class(l.slot_class);
  if (slot_class.mechanism_at(now) != "posted")
    return step_towards(l.term.pays, s.prices[l.slot_class.value - 1].rate().value_or(l.term.pays));
  const auto& params = slot_class.params_at(now);
  const auto fixed = params.find("price");
  if (fixed == params.end()) return step_towards(l.term.pays, s.suggested(l.slot_class, now, now));
  return base::parse_credits(fixed->second).value_or(l.term.pays);
}

// Does one of the first in line who need this class, and would pay this, fit on the machine of a
// lease?
bool Decider::is_needed(const Lease& l, Credits price) const {
  constexpr int looked_at = 64;
  const auto& machine = s.machines.at(l.machine);
  int looked = 0;
  for (const auto& [priority, id] : s.index.classes[l.slot_class.value - 1].wanting) {
    if (looked++ == looked_at) return false;
    const auto& job = s.jobs.at(id);
    if (!is_guest(job) && job.terms.limit >= price && meets(demands_of(job, now), machine))
      return true;
  }
  return false;
}

// The next term begins when this one ends, at the price then in force, if both sides still agree.
void Decider::renew_or_drain(const Lease& l) {
  const auto& job = s.jobs.at(l.job);
  const auto& offer = s.offers.at(l.offer);
  const auto leave = [&](const std::string& reason) {
    out.push_back(LeaseDraining{l.id, l.term.until, reason});
    worker_leaves(l, reason);
  };
  if (offer.draining || offer.paused_until > now || !s.accounts.at(offer.owner).frozen.empty())
    return leave("the offer ends");
  if (is_replicated(job)) return leave("its result is compared, and paid, at the end of one term");
  if (!still_wanted(job, l)) return leave("the job wants fewer workers");
  const auto price = price_in_force(l);
  if (price > job.terms.limit) return leave(fmt::format("the price is {} now", to_string(price)));
  if (is_guest(job) && paid_by_work(job) && is_needed(l, price))
    return leave("a job that needs its class waits");
  if (price < offer.terms.reserve.value_or(Credits()))
    return leave(fmt::format("the price is {} now", to_string(price)));
  const auto window = opening(offer.terms.availability, l.term.until - Duration(1));
  if (!window) return leave("the offer's window ends");
  const auto begin = l.term.until;
  auto& promised = promised_[l.job];
  const auto budget = begin + base::affordable(price, l.slots, s.free_budget(job) - promised);
  const auto until = std::min({begin + s.settings.term, window->until, job.terms.deadline,
                               l.granted + offer.terms.longest_lease, budget});
  if (until - begin < s.settings.shortest_term)
    return leave(until == budget ? "the budget runs out" : "the offer's window ends");
  promised += base::cost(price, l.slots, until - begin);
  out.push_back(LeaseRenewed{l.id, {price, price, begin, until, s.settings.fee_ppm}});
}

// A lease has come to a point where it needs attention (index.cc: due).
void Decider::attend(const Lease& l) {
  switch (l.state) {
    case LeaseState::granted:
      if (l.ready > Time()) return attend_waiting(l);
      return give_up(l, LeaseOutcome::unstarted, "it did not start in time");
    case LeaseState::running:
      if (l.next) {  // Nobody settled past the end of the term: no reports.
        give_up(l, LeaseOutcome::lost, "no report since its term ended");
      } else if (now >=
                 l.term.until) {  // The clock came too late to renew: not the lender's fault.
        out.push_back(LeaseDraining{l.id, l.term.until, "its term ended"});
        worker_leaves(l, "its term ended");
      } else {
        renew_or_drain(l);
      }
      return;
    case LeaseState::draining:
      if (paid_by_work(s.jobs.at(l.job)) || is_replicated(s.jobs.at(l.job)))
        return close(l, LeaseOutcome::term, l.detail);
      ++closed_[l.job];
      out.push_back(LeaseClosed{l.id, LeaseOutcome::term, l.detail});
      return worker_left(l, l.detail);
    case LeaseState::closed:
      out.push_back(LeaseForgotten{l.id});
  }
}

Result<> Decider::operator()(const Tick& c) {
  SOUK_TRY(need_operator("run the market's clock"));
  std::size_t budget = kDuePerTick;
  s.index.job_due.visit([&](Time when, JobId id) {
    if (when > now || budget-- == 0) return false;
    const auto& job = s.jobs.at(id);
    if (is_final(job.state)) {
      out.push_back(JobForgotten{id});
    } else if (now >= job.terms.deadline) {
      end_job(job, JobState::expired, "its deadline passed");
    } else {
      end_job(job, JobState::succeeded, std::string(kAllFinished));
    }
    return true;
  });
  const bool jobs_changed = !out.empty();
  if (jobs_changed) return {};  // Their leases are closed now; the rest waits for the next tick.
  s.index.lease_due.visit([&](Time when, LeaseId id) {
    if (when > now || budget-- == 0) return false;
    const auto& lease = s.leases.at(id);
    if (lease.state == LeaseState::granted && now < lease.term.until &&
        (lease.ready > Time() || std::ranges::binary_search(c.fetching, id)))
      return true;  // It waits for others of its gang, or for files that come.
    // Giving up may end the job, and with it leases that this tick has touched: then the next tick.
    const bool may_end = lease.state == LeaseState::granted || lease.next;
    if (ended_.contains(lease.job) || (may_end && touched_.contains(lease.job))) return true;
    if (leaving_.contains(id)) return true;  // With its gang, a moment ago.
    attend(lease);
    touched_.insert(lease.job);
    return true;
  });
  // Who has a lease breaks it by silence (ExpireLease), which is more than to be away.
  for (const auto id : c.unheard) {
    const auto* machine = s.machines.find(id);
    if (machine == nullptr || !machine->online || !s.index.leases_of[id.value].empty()) continue;
    if (out.size() >= kDuePerTick) break;
    out.push_back(MachineOffline{id});
  }
  return {};
}

}  // namespace souk::market
