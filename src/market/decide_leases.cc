#include <fmt/format.h>

#include <algorithm>

#include "market/decider.h"

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
    return fail(Code::conflict, fmt::format("lease {} has epoch {}, not {}", to_string(id), lease->epoch, epoch),
                "stop this work: it was given to somebody else", "epoch");
  if (lease->state == LeaseState::closed)
    return fail(Code::conflict, fmt::format("lease {} is closed: {}", to_string(id), to_string(lease->outcome)),
                "stop this work: it is no longer paid");
  return lease;
}

// Bills [begin of term, until) less what the term has been billed, so that roundings never add up.
// The lender's share follows the same rule; a micro-credit that rounding would take from the
// platform waits for the next interval.
void Decider::settle(const Lease& l, Time until) {
  if (l.state == LeaseState::granted) return;
  const auto bill = [&](const Term& term, Time begin, Time end, Credits paid, Credits earned) {
    const auto pays = base::cost(term.pays, l.slots, end - begin) - paid;
    const auto gross = base::cost(term.gets, l.slots, end - begin);
    const auto net = gross - base::share(gross, s.settings.fee_ppm) - earned;
    out.push_back(LeaseSettled{l.id, end, pays, pays - std::clamp(net, Credits(), pays)});
  };
  const auto end = std::min(until, l.term.until);
  if (end > l.settled_until || (l.next && end == l.term.until))
    bill(l.term, std::max(l.term.from, l.started), std::max(end, l.settled_until), l.term_paid,
         l.term_earned);
  if (l.next && until > l.next->from)
    bill(*l.next, l.next->from, std::min(until, l.next->until), {}, {});
}

void Decider::close(const Lease& l, LeaseOutcome outcome, std::string detail) {
  // Silence is not work: what was not reported is not paid.
  if (outcome != LeaseOutcome::lost) settle(l, now);
  out.push_back(LeaseClosed{l.id, outcome, std::move(detail)});
}

void Decider::drain(const Lease& l, std::string reason) {
  if (l.state == LeaseState::closed || l.state == LeaseState::draining) return;
  if (l.state == LeaseState::granted) {
    close(l, LeaseOutcome::released, std::move(reason));
    return;
  }
  settle(l, now);  // Rolls into the next term first, if that has begun.
  out.push_back(LeaseDraining{l.id, now + s.settings.drain, std::move(reason)});
}

void Decider::warn_if_low(const Job& j, Credits about_to_pay) {
  if (j.warned || is_final(j.state)) return;
  Credits burn;
  for (const auto id : j.leases) {
    const auto& l = s.leases.at(id);
    burn += base::cost(l.term.pays, l.slots, s.settings.low_escrow);
  }
  if (s.ledger.hold(hold_of(j.id))->left - about_to_pay < burn) out.push_back(JobWarned{j.id});
}

Result<> Decider::operator()(const StartLease& c) {
  SOUK_ASSIGN(const auto* lease, reported(c.lease, c.epoch));
  if (lease->state == LeaseState::granted) out.push_back(LeaseStarted{c.lease});
  return {};
}

Result<> Decider::operator()(const Heartbeat& c) {
  SOUK_ASSIGN(const auto* machine, find(s.machines, c.machine));
  SOUK_TRY(need_agent(*machine));
  if (!machine->online) out.push_back(MachineOnline{c.machine});
  for (const auto& held : c.leases) {
    const auto* l = s.leases.find(held.lease);
    // The answer tells the agent which of its leases still stand; a stale one is not an error.
    if (l == nullptr || l->machine != c.machine || l->epoch != held.epoch) continue;
    if (l->state != LeaseState::running && l->state != LeaseState::draining) continue;
    if (now - l->settled_until < s.settings.settle_every) continue;
    const auto before = out.size();
    settle(*l, now);
    Credits paid;
    for (auto i = before; i < out.size(); ++i) paid += std::get<LeaseSettled>(out[i]).amount;
    warn_if_low(s.jobs.at(l->job), paid);
  }
  return {};
}

Result<> Decider::operator()(const FinishLease& c) {
  SOUK_ASSIGN(const auto* lease, reported(c.lease, c.epoch));
  if (c.outcome != LeaseOutcome::completed && c.outcome != LeaseOutcome::failed &&
      c.outcome != LeaseOutcome::released)
    return fail(Code::invalid, fmt::format("a lease cannot be finished as '{}'", to_string(c.outcome)),
                "use completed, failed or released", "outcome");
  if (c.detail.size() > kTextMax)
    return fail(Code::too_large, "the detail is too long", fmt::format("{} characters at most", kTextMax), "detail");
  const bool unstarted = lease->state == LeaseState::granted;
  if (unstarted && c.outcome == LeaseOutcome::completed)
    return fail(Code::conflict, fmt::format("lease {} has not started", to_string(c.lease)),
                "report that it runs first", "outcome");
  close(*lease, c.outcome, c.detail);
  const auto& job = s.jobs.at(lease->job);
  const bool alone = job.leases.size() == 1;
  if (c.outcome == LeaseOutcome::failed) {
    for (const auto id : job.leases)
      if (id != c.lease) close(s.leases.at(id), LeaseOutcome::job, "another worker failed");
    out.push_back(JobEnded{job.id, JobState::failed, c.detail});
  } else if (c.outcome == LeaseOutcome::completed && alone &&
             job.done + lease->slots >= job.terms.workers.min) {
    out.push_back(JobEnded{job.id, JobState::succeeded, "all workers finished"});
  }
  return {};
}

Result<> Decider::operator()(const ExpireLease& c) {
  SOUK_ASSIGN(const auto* lease, find(s.leases, c.lease));
  SOUK_TRY(need_operator("expire leases"));
  if (lease->state == LeaseState::closed) return {};
  close(*lease, LeaseOutcome::lost, "the machine fell silent");
  return {};
}

// The next term begins when this one ends, at the price then in force, if both sides still agree.
void Decider::renew_or_drain(const Lease& l) {
  const auto& job = s.jobs.at(l.job);
  const auto& offer = s.offers.at(l.offer);
  const auto leave = [&](std::string reason) {
    out.push_back(LeaseDraining{l.id, l.term.until, std::move(reason)});
  };
  if (offer.draining || offer.paused_until > now || !s.accounts.at(offer.owner).frozen.empty())
    return leave("the offer ends");
  if (job.held > job.terms.workers.max - job.done) return leave("the job wants fewer workers");
  const auto price = s.slot_class(l.slot_class).mechanism == "posted"
                         ? s.suggested(l.slot_class, now, now)
                         : s.prices[l.slot_class.value - 1].last().value_or(l.term.pays);
  if (price > job.terms.limit) return leave(fmt::format("the price is {} now", to_string(price)));
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
  out.push_back(LeaseRenewed{l.id, {price, price, begin, until}});
}

// A lease has come to a point where it needs attention (index.cc: due).
void Decider::attend(const Lease& l) {
  switch (l.state) {
    case LeaseState::granted:
      return close(l, LeaseOutcome::unstarted, "it did not start in time");
    case LeaseState::running:
      if (l.next || now >= l.term.until) {  // Nobody settled past the end of the term: no reports.
        out.push_back(LeaseClosed{l.id, LeaseOutcome::lost, "no report since its term ended"});
        return;
      }
      return renew_or_drain(l);
    case LeaseState::draining:
      out.push_back(LeaseClosed{l.id, LeaseOutcome::term, l.detail});
      return;
    case LeaseState::closed:
      out.push_back(LeaseForgotten{l.id});
  }
}

Result<> Decider::operator()(const Tick&) {
  SOUK_TRY(need_operator("run the market's clock"));
  std::size_t budget = kDuePerTick;
  for (const auto& [when, id] : s.index.job_due.order()) {
    if (when > now || budget-- == 0) break;
    const auto& job = s.jobs.at(id);
    if (is_final(job.state)) {
      out.push_back(JobForgotten{id});
    } else {
      end_job(job, JobState::expired, "its deadline passed");
    }
  }
  const bool jobs_changed = !out.empty();
  if (jobs_changed) return {};  // Their leases are closed now; the rest waits for the next tick.
  for (const auto& [when, id] : s.index.lease_due.order()) {
    if (when > now || budget-- == 0) break;
    attend(s.leases.at(id));
  }
  return {};
}

}  // namespace souk::market
