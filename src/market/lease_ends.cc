#include "market/lease_ends.h"

#include <algorithm>
#include <utility>

#include "market/limits.h"

namespace souk::market {
namespace {

// The job keeps away from a machine that failed it, twice as long each time.
void keep_away(Job& job, MachineId machine, Time at) {
  auto it = std::ranges::find(job.avoided, machine, &Avoided::machine);
  if (it == job.avoided.end()) {
    if (job.avoided.size() == kAvoidedPerJob) job.avoided.erase(job.avoided.begin());
    it = job.avoided.insert(job.avoided.end(), Avoided{.machine = machine});
  }
  it->until = at + base::minutes(5) * (std::int64_t{1} << std::min(it->times++, 8));
}

void avoid(Job& job, const Lease& l, Time at) {
  std::erase_if(job.avoided, [&](const Avoided& a) { return a.until <= at - base::hours(24); });
  // In a gang a program also fails because another's machine was lost.
  const bool of_others = is_gang(job) && l.outcome == LeaseOutcome::failed;
  if (came_to_nothing(l.outcome) && !of_others) keep_away(job, l.machine, at);
}

void judge(Machine& m, LeaseOutcome outcome, bool ran) {
  if (outcome == LeaseOutcome::lost || outcome == LeaseOutcome::unstarted) {
    lose_reliability(m);
    m.online = false;
    ++m.leases;
  } else if (ran && outcome != LeaseOutcome::released) {
    m.reliability_ppm += (1'000'000 - m.reliability_ppm) / 5;
    ++m.leases;
  }
}

// Of two who agree and one who does not, that one has lost.
void blame_odd_ones(State& s, Time at, Job& job, const std::vector<PartAnswer>& answers,
                    const std::string& result) {
  for (const auto& answer : answers) {
    if (answer.result == result) continue;
    if (auto* machine = s.machines.find(answer.machine)) {
      lose_reliability(*machine);
      s.index.offers_changed(s, machine->id);
    }
    if (const auto* lease = s.leases.find(answer.lease)) keep_away(job, lease->machine, at);
  }
}

// Is the worker's part done with this end of its lease?
bool does_its_part(const Job& job, LeaseOutcome outcome) {
  const bool completed = outcome == LeaseOutcome::completed;
  if (!is_gang(job)) return completed;
  // Whoever is told to end with the gang has done what there was to do.
  if (job.gang.phase == GangPhase::ending)
    return completed || outcome == LeaseOutcome::released || outcome == LeaseOutcome::term;
  return completed && job.gang.phase == GangPhase::running;
}

void note_end(State& s, Time at, Job& job, const Lease& l, const LeaseClosed& e) {
  const auto& result = e.result;
  if (does_its_part(job, l.outcome)) {
    auto& part = part_of(job, l.part);
    blame_odd_ones(s, at, job, std::exchange(part.answers, {}), result);
    part.done = true;
    part.result = result;
  } else if (came_to_nothing(l.outcome) && !e.keeps_try &&
             !(paid_by_work(job) && l.outcome != LeaseOutcome::failed)) {
    auto& part = part_of(job, l.part);
    ++part.tries;
    if (!result.empty()) part.result = result;  // What a failure left is worth a look.
  }
}

// What the end of one worker means for the gang; its phase is still that of its open leases.
void note_gang(Job& job, const Lease& l) {
  auto& gang = job.gang;
  if (l.outcome == LeaseOutcome::lost || l.outcome == LeaseOutcome::unstarted) gang.failure.clear();
  if (job.leases.empty() && gang.phase == GangPhase::regrouping) gang.phase = GangPhase::forming;
}

}  // namespace

JobPart& part_of(Job& job, std::int32_t index) {
  const auto it = std::ranges::lower_bound(job.parts, index, {}, &JobPart::index);
  if (it != job.parts.end() && it->index == index) return *it;
  return *job.parts.insert(it, JobPart{.index = index});
}

void begin_anew(Job& gang) {
  for (auto& part : gang.parts) part.done = false;
  gang.done = 0;
  gang.gang.phase = GangPhase::forming;
  gang.gang.failure.clear();
}

void lose_reliability(Machine& m) { m.reliability_ppm -= m.reliability_ppm / 5; }

void close_lease(State& s, Time at, const LeaseClosed& e) {
  auto& l = s.leases.at(e.lease);
  const bool ran = l.started > Time();
  l.state = LeaseState::closed;
  l.outcome = e.outcome;
  l.detail = e.detail;
  l.ended = at;
  l.next.reset();
  auto& offer = s.offers.at(l.offer);
  offer.leased -= l.slots;
  s.index.lease_closed(s, l);
  auto& job = s.jobs.at(l.job);
  std::erase(job.leases, l.id);
  job.held -= l.slots;
  const bool undecided = is_replicated(job) && !e.decides;
  const bool completed = l.outcome == LeaseOutcome::completed;
  if (does_its_part(job, l.outcome) && !undecided) job.done += l.slots;
  if (completed && undecided)
    part_of(job, l.part)
        .answers.push_back(
            {l.id, l.lender, l.machine, e.result, e.owed, e.fee, std::min(at, l.term.until)});
  else if (!job.work.empty())
    note_end(s, at, job, l, e);
  if (is_gang(job)) note_gang(job, l);
  if (job.leases.empty() && job.state == JobState::running) job.state = JobState::queued;
  avoid(job, l, at);
  s.index.job_changed(s, job);
  if (e.wrong)
    lose_reliability(s.machines.at(l.machine));
  else if (!e.excused)
    judge(s.machines.at(l.machine), l.outcome, ran);
  s.index.offers_changed(s, l.machine);
}

}  // namespace souk::market
