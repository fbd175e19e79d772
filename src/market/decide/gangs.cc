#include <fmt/format.h>

#include <algorithm>

#include "market/decide/decider.h"

// Gangs: jobs whose workers are granted, started and ended together (types.h: Gang).
//
// A gang bids for all its workers, so that a round grants all or none. Its machines prepare, each
// says when it could start, and the last one starts all: billing begins for all in one moment, and
// nobody is paid for waiting. When a worker goes, the others are given notice to save what they
// have, and the gang bids again; no machine waits for a replacement. A gang that may have fewer
// workers goes on without one, as long as it has its minimum and worker 0.
//
// Programs fail when the machine of another is lost, and long before its silence is noticed. So
// what one failed with is held against the job only if nobody was lost by the time all have left.

namespace souk::market {

bool Decider::is_last(const Job& gang) const {
  const auto it = closed_.find(gang.id);
  return std::ssize(gang.leases) == (it == closed_.end() ? 0 : it->second);
}

// May it do without this one?
bool Decider::goes_on_without(const Job& gang, const Lease& l) const {
  if (gang.gang.phase != GangPhase::running || gang.done > 0 || l.part == 0) return false;
  std::int32_t left = 0;
  for (const auto id : gang.leases)
    if (const auto& other = s.leases.at(id);
        id != l.id && other.state == LeaseState::running && !leaving_.contains(id))
      ++left;
  return left >= gang.terms.workers.min;
}

void Decider::make_ready(const Lease& l) {
  const auto& gang = s.jobs.at(l.job);
  if (gang.gang.phase != GangPhase::forming) {  // One more for a gang that runs.
    out.push_back(LeaseStarted{l.id});
    return;
  }
  const auto waits = [&](LeaseId id) {
    const auto& other = s.leases.at(id);
    return (id != l.id && other.ready == Time()) || now >= other.term.until;
  };
  if (l.ready == Time()) out.push_back(LeaseReady{l.id});
  if (std::ranges::any_of(gang.leases, waits)) return;
  for (const auto id : gang.leases) out.push_back(LeaseStarted{id});
}

// It could have started long ago: others are late, and it is not to blame.
void Decider::attend_waiting(const Lease& l) {
  if (now < l.term.until) return;
  close(l, LeaseOutcome::job, "the gang did not start in time");
  worker_left(l, "its term is over");
}

// The others leave, too.
void Decider::send_away(const Job& gang, const Lease& l, const std::string& reason) {
  if (!sent_away_.insert(gang.id).second) return;
  for (const auto id : gang.leases) {
    const auto& other = s.leases.at(id);
    if (id == l.id || leaving_.contains(id) || other.state == LeaseState::draining) continue;
    leaving_.insert(id);
    if (other.state == LeaseState::granted) {
      close(other, LeaseOutcome::job, reason);
    } else {
      settle(other, now);  // Rolls into the next term first, if that has begun.
      out.push_back(LeaseDraining{id, now + s.settings.drain, reason});
    }
  }
}

void Decider::regroup(const Job& gang, const Lease& l, std::string reason, std::string failure) {
  if (gang.gang.phase == GangPhase::regrouping || sent_away_.contains(gang.id)) return;
  send_away(gang, l, reason);
  if (gang.gang.phase == GangPhase::running)
    out.push_back(
        GangChanged{gang.id, GangPhase::regrouping, std::move(reason), std::move(failure)});
}

void Decider::worker_leaves(const Lease& l, std::string_view reason) {
  const auto& gang = s.jobs.at(l.job);
  if (!is_gang(gang) || gang.gang.phase == GangPhase::ending) return;
  leaving_.insert(l.id);
  if (goes_on_without(gang, l)) return;
  regroup(gang, l, fmt::format("worker {} leaves: {}", l.part, reason), {});
}

void Decider::worker_left(const Lease& l, std::string_view reason) {
  const auto& gang = s.jobs.at(l.job);
  if (!is_gang(gang)) return;
  leaving_.insert(l.id);
  if (gang.gang.phase == GangPhase::ending) {
    if (is_last(gang)) end_gang(gang);
    return;
  }
  if (gang.gang.phase == GangPhase::regrouping) {
    if (is_last(gang)) judge_failure(gang, l);
    return;
  }
  if (goes_on_without(gang, l)) return;
  regroup(gang, l, fmt::format("worker {} has left: {}", l.part, reason), {});
}

// All have left. Was it the program's fault?
void Decider::judge_failure(const Job& gang, const Lease& last) {
  const auto& end = std::get<LeaseClosed>(out.back());
  const bool lost = end.lease == last.id &&
                    (end.outcome == LeaseOutcome::lost || end.outcome == LeaseOutcome::unstarted);
  if (gang.gang.failure.empty() || lost) return;
  std::int32_t tries = 0;
  for (const auto& part : gang.parts) tries = std::max(tries, part.tries);
  if (gang.retry.failed && tries <= gang.retry.max) return;
  fail_gang(gang, gang.gang.failure);
}

void Decider::fail_gang(const Job& gang, std::string why) {
  out.push_back(JobEnded{gang.id, JobState::failed, std::move(why)});
  ended_.insert(gang.id);
}

void Decider::end_gang(const Job& gang) {
  out.push_back(JobEnded{gang.id, JobState::succeeded, std::string(kAllFinished)});
  ended_.insert(gang.id);
}

void Decider::worker_failed(const Lease& l, const std::string& detail) {
  const auto& gang = s.jobs.at(l.job);
  leaving_.insert(l.id);
  const auto phase = gang.gang.phase;
  if (phase == GangPhase::ending || phase == GangPhase::regrouping) return worker_left(l, detail);
  const auto what = fmt::format("worker {}: {}", l.part, detail);
  if (!is_last(gang)) return regroup(gang, l, what, what);
  // The others are done, or were never there: nobody was lost.
  const auto* part = gang.part(l.part);
  if (gang.retry.failed && (part == nullptr ? 0 : part->tries) < gang.retry.max)
    return regroup(gang, l, what, {});
  fail_gang(gang, what);
}

void Decider::worker_done(const Lease& l) {
  const auto& gang = s.jobs.at(l.job);
  leaving_.insert(l.id);
  if (gang.gang.phase == GangPhase::regrouping) return worker_left(l, "it is done");
  if (is_last(gang)) return end_gang(gang);
  if (!gang.gang.led || l.part != 0 || gang.gang.phase == GangPhase::ending) return;
  send_away(gang, l, "worker 0 is done");
  out.push_back(GangChanged{gang.id, GangPhase::ending, "worker 0 is done", {}});
}

}  // namespace souk::market
