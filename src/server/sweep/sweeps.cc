#include "server/sweep/sweeps.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "job/kinds.h"
#include "job/sweep/halving.h"
#include "job/sweep/sweep_work.h"
#include "market/limits.h"
#include "wire/json.h"

namespace souk::server {
namespace {

using base::Credits;
using base::JobId;
using market::JobState;

wire::TrialNote note_of(const market::Job& job) {
  return wire::from_json<wire::TrialNote>(job.note).value_or(wire::TrialNote{});
}

bool out_of_credits(const market::Job& job) {
  return job.state == JobState::paused && job.reason == market::kBudgetUsedUp;
}

Credits least_for(const market::State& s, const market::Job& job) {
  return market::least_budget(job.terms.limit, job.terms.workers.min, s.settings);
}

// What a trial left: of a training its model, of a program what its first worker kept.
std::string result_of(const market::Job& job) {
  if (!job.result.empty()) return job.result;
  const auto* part = job.part(0);
  return part == nullptr ? std::string() : part->result;
}

std::string stopped_because(const wire::Sweep& sweep, const wire::TrialNote& note) {
  const auto& rung = note.rungs.back();
  return fmt::format("stopped early: {} after {} epochs is not among the best of {}",
                     rung.value ? fmt::format("{} {:.6g}", sweep.metric, *rung.value)
                                : fmt::format("{} is no number", sweep.metric),
                     rung.epoch, sweep.eta);
}

}  // namespace

void Sweeps::Look::run(market::Command command) const {
  if (const auto done = execute(market::kSystem, std::move(command)); !done)
    spdlog::warn("sweep {}: {}", to_string(job.id), done.error().message);
}

void Sweeps::Look::end_sweep(bool failed, std::string reason) const {
  reason.resize(std::min(reason.size(), market::kTextMax));
  reason.resize(base::whole_characters(reason));
  run(market::EndSweep{job.id, failed, std::move(reason)});
}

Sweeps::Led* Sweeps::led(const market::State& s, const market::Job& job) {
  if (const auto it = led_.find(job.id); it != led_.end()) return &it->second;
  const auto work = works_.of(job);
  if (!work || !work->sweep) return nullptr;  // Of a newer server.
  auto& out = led_[job.id];
  out.work = work;
  out.points = job::points_of(*work->sweep);
  if (const auto it = s.index.trials_of.find(job.id); it != s.index.trials_of.end())
    for (const auto id : it->second) out.trials[id].note = note_of(s.jobs.at(id));
  return &out;
}

void Sweeps::recall(const market::State& s) {
  for (const auto id : s.index.live_sweeps) led(s, s.jobs.at(id));
  s.leases.for_each([&](const market::Lease& l) {
    const auto* job = s.jobs.find(l.job);
    if (job == nullptr || !job->sweep || l.part != 0) return;
    if (const auto it = led_.find(job->sweep); it != led_.end())
      it->second.trials[l.job].logs.push_back({.lease = l.id});
  });
}

void Sweeps::on_applied(const market::State& s, const market::Event& event) {
  if (const auto* e = std::get_if<market::JobSubmitted>(&event); e != nullptr && e->job.sweep)
    if (const auto it = led_.find(e->job.sweep); it != led_.end())
      it->second.trials[e->job.id].note = note_of(e->job);
  if (const auto* e = std::get_if<market::LeaseGranted>(&event); e != nullptr && e->lease.part == 0)
    if (const auto it = led_.find(s.jobs.at(e->lease.job).sweep); it != led_.end())
      it->second.trials[e->lease.job].logs.push_back({.lease = e->lease.id});
  if (const auto* e = std::get_if<market::JobEnded>(&event)) led_.erase(e->job);
}

void Sweeps::on_tick(const market::State& s, base::Time now, const Execute& execute) {
  std::vector<JobId> turn;
  const auto& all = s.index.live_sweeps;
  for (auto it = all.lower_bound(next_); turn.size() < std::min(kMostPerTick, all.size()); ++it) {
    if (it == all.end()) it = all.begin();
    turn.push_back(*it);
  }
  for (const auto id : turn) {
    const auto& job = s.jobs.at(id);
    next_ = JobId(id.value + 1);
    if (job.state == JobState::paused) continue;
    if (auto* known = led(s, job))
      look({.s = s, .job = job, .now = now, .execute = execute, .led = *known});
  }
}

void Sweeps::heard(TrialAnswer answer) {
  const auto it = led_.find(answer.sweep);
  if (it == led_.end()) return;
  auto& trial = it->second.trials[answer.job];
  trial.asked_until = {};
  trial.answer = std::move(answer);
}

void Sweeps::look(const Look& at) {
  for (auto& [id, trial] : at.led.trials)
    if (!trial.note.closed) listen(at, at.s.jobs.at(id), trial);
  end(at);
  if (!market::is_final(at.job.state)) begin(at);
}

void Sweeps::listen(const Look& at, const market::Job& job, Trial& trial) {
  const bool important = trial.answer.has_value() && trial.answer->last;
  const auto rungs = trial.note.rungs.size();
  if (trial.answer) take_in(at, job, trial);
  const bool due = at.now - trial.noted >= kNoteEvery;
  if (trial.changed && (important || trial.note.rungs.size() > rungs || due)) {
    at.run(market::NoteTrial{job.id, wire::to_json(trial.note)});
    trial.noted = at.now;
    trial.changed = false;
  }
  if (trial.note.stopped && !market::is_final(job.state))
    at.run(market::CancelJob{job.id, stopped_because(at.sweep(), trial.note)});
  if (trial.note.closed) return;
  if (out_of_credits(job)) fund(at, job);
  ask(at, job, trial);
}

void Sweeps::take_in(const Look& at, const market::Job& job, Trial& trial) {
  const auto answer = *std::exchange(trial.answer, std::nullopt);
  for (const auto& place : answer.logs) {  // Meanwhile there may be more leases.
    const auto it = std::ranges::find(trial.logs, place.lease, &LogPlace::lease);
    if (it != trial.logs.end()) *it = place;
  }
  auto& note = trial.note;
  for (const auto& report : answer.reports) {
    if (report.epoch <= note.epoch || note.stopped) continue;
    note.epoch = report.epoch;
    note.value = report.value;
    trial.changed = true;
    judge(at, market::is_final(job.state), trial);
  }
  if (!answer.last) return;
  note.closed = true;
  trial.changed = true;
}

void Sweeps::judge(const Look& at, bool ended, Trial& trial) {
  const auto& sweep = at.sweep();
  if (sweep.method != wire::SweepMethod::asha) return;
  auto& note = trial.note;
  for (;;) {
    const auto rung = note.rungs.size();
    const auto epochs = job::rung_epochs(sweep, rung);
    if (note.epoch < epochs) return;
    if (at.led.work->train && epochs >= at.led.work->train->epochs) return;  // Its end.
    std::vector<std::optional<double>> others;
    for (const auto& [id, other] : at.led.trials)
      if (&other != &trial && other.note.rungs.size() > rung)
        others.push_back(other.note.rungs[rung].value);
    const bool on = job::goes_on(sweep, note.value, others);
    note.rungs.push_back({static_cast<std::int32_t>(epochs), note.value, on});
    if (on || ended) continue;
    note.stopped = true;
    return;
  }
}

void Sweeps::ask(const Look& at, const market::Job& job, Trial& trial) {
  if (at.now < trial.asked_until) return;
  const bool trains = job::trains(job.kind), ended = market::is_final(job.state);
  // What a training was when it ended is among its results, a moment later.
  if (ended && trains && job.epoch > 0 && job.result.empty() && at.now < job.ended + kResultWait)
    return;
  if (!ended && job.epoch == 0) return;  // Nobody has begun it.
  if (ask_({.sweep = at.job.id,
            .job = job.id,
            .metric = at.sweep().metric,
            .trains = trains,
            .result = job.result,
            .logs = trial.logs,
            .last = ended}))
    trial.asked_until = at.now + kAnswerWait;
}

// A trial that has used up its share gets one more, while there is any.
void Sweeps::fund(const Look& at, const market::Job& job) {
  auto terms = job.terms;
  const auto free = at.s.free_budget(at.job);
  const auto waiting = std::ranges::count_if(
      at.job.trials, [&](JobId id) { return out_of_credits(at.s.jobs.at(id)); });
  auto more =
      std::max(least_for(at.s, job), Credits(free.micro / std::max<std::int64_t>(1, waiting)));
  if (const auto cap = at.sweep().trial_budget) {
    if (terms.budget >= *cap)
      return at.run(market::CancelJob{job.id, "it has used up its trial_budget"});
    more = std::min(more, *cap - terms.budget);
  }
  if (more > free) return;
  terms.budget += more;
  at.run(market::ChangeJob{job.id, std::move(terms)});
  at.run(market::ResumeJob{job.id});
}

// What the last of too many failures reported is still to be heard: till then none is begun.
bool Sweeps::may_have_failed(const Look& at) {
  std::int32_t failures = 0;
  for (const auto& [id, trial] : at.led.trials) {
    if (trial.note.value) return false;
    if (at.s.jobs.at(id).state == JobState::failed) ++failures;
  }
  return failures >= kFailures;
}

void Sweeps::begin(const Look& at) {
  const auto& [s, job, now, execute, led] = at;
  if (may_have_failed(at)) return;
  const auto left = std::ssize(led.points) - std::ssize(led.trials);
  const auto room = std::min(job.most_trials - std::ssize(job.trials), left);
  const auto least = least_for(s, job);
  const bool stuck =
      std::ranges::all_of(job.trials, [&](JobId id) { return out_of_credits(s.jobs.at(id)); });
  if (stuck && (left > 0 || !job.trials.empty()) && s.free_budget(job) < least)
    return at.run(market::PauseJob{job.id, std::string(market::kBudgetUsedUp)});
  if (now < led.again) return;
  for (auto i = room; i > 0; --i) {
    const auto free = s.free_budget(job);
    if (free < least) return;
    auto share = std::max(least, Credits(free.micro / i));
    if (const auto cap = at.sweep().trial_budget) share = std::min(share, *cap);
    auto begun = may_start_(job.owner);
    if (begun) begun = begin_one(at, share);
    if (begun) continue;
    led.again = now + kRetry;
    spdlog::info("sweep {} begins no trial: {}", to_string(job.id), begun.error().message);
    if (const auto code = begun.error().code;
        code == base::Code::invalid || code == base::Code::too_large)
      at.end_sweep(true, fmt::format("trial {} cannot be run: {}", led.trials.size() + 1,
                                     begun.error().message));
    return;
  }
}

base::Result<> Sweeps::begin_one(const Look& at, Credits budget) {
  const auto& job = at.job;
  const auto number = static_cast<std::int32_t>(at.led.trials.size()) + 1;
  const auto& point = at.led.points[static_cast<std::size_t>(number - 1)];
  SOUK_ASSIGN(const auto work, job::trial_work(*at.led.work, number, point));
  SOUK_ASSIGN(const auto* kind, job::kind_named(at.sweep().of));
  const auto end = fmt::format(" #{}", number);
  auto name =
      (job.name.empty() ? std::string("trial") : job.name).substr(0, market::kNameMax - end.size());
  name.resize(base::whole_characters(name));
  market::SubmitJob trial{
      .name = name + end,
      .kind = std::string(kind->name),
      .slot_class = job.slot_class,
      .terms = job.terms,
      .work = wire::to_json(work),
      .retry = job.retry,
      .pay = kind->pay,
      .replicate = kind->trains ? 1 : work.replicate.value_or(1),
      .sweep = job.id,
      .note = wire::to_json(wire::TrialNote{.number = number, .parameters = point}),
      .least_class = job.least_class};
  trial.terms.budget = budget;
  trial.terms.deadline = base::kNever;  // That of the sweep holds.
  market::Actor owner = market::kSystem;
  owner.account = job.owner;
  return at.execute(owner, std::move(trial));
}

void Sweeps::end(const Look& at) {
  std::int32_t failures = 0;
  bool open = at.led.trials.size() < at.led.points.size();
  const Trial* best = nullptr;
  const market::Job *best_job = nullptr, *last_failed = nullptr;
  for (const auto& [id, trial] : at.led.trials) {
    const auto& job = at.s.jobs.at(id);
    open = open || !trial.note.closed || !market::is_final(job.state);
    if (trial.note.closed && job.state == JobState::failed) {
      ++failures;
      last_failed = &job;
    }
    if (!trial.note.value ||
        (best != nullptr && !job::is_better(at.sweep(), trial.note.value, best->note.value)))
      continue;
    best = &trial;
    best_job = &job;
  }
  if (best == nullptr && failures >= kFailures)
    return at.end_sweep(true,
                        fmt::format("{} trials failed and none came to anything; {}: {}", failures,
                                    to_string(last_failed->id), last_failed->reason));
  if (open) return;
  if (best == nullptr) {
    const auto why = last_failed != nullptr
                         ? fmt::format("; {}: {}", to_string(last_failed->id), last_failed->reason)
                     : job::trains(at.sweep().of)
                         ? std::string()
                         : fmt::format("; print a line: SOUK_METRIC {}=0.9", at.sweep().metric);
    return at.end_sweep(true, fmt::format("no trial reported its {}{}", at.sweep().metric, why));
  }
  if (const auto result = result_of(*best_job); !result.empty())
    at.run(market::ReportResult{at.job.id, result, false, {}});
  at.end_sweep(false, fmt::format("trial {} ({}) is best: {} {:.6g}", best->note.number,
                                  to_string(best_job->id), at.sweep().metric, *best->note.value));
}

namespace {

wire::TrialState state_of(const market::Job& job, const wire::TrialNote& note) {
  switch (job.state) {
    case JobState::queued:
      return wire::TrialState::waiting;
    case JobState::running:
      return wire::TrialState::running;
    case JobState::paused:
      return wire::TrialState::paused;
    case JobState::succeeded:
      return wire::TrialState::succeeded;
    case JobState::failed:
      return wire::TrialState::failed;
    case JobState::cancelled:
    case JobState::expired:
      break;
  }
  return note.stopped ? wire::TrialState::stopped : wire::TrialState::cancelled;
}

}  // namespace

wire::PlanSweep sweep_plan(const wire::NewJob& job, const wire::JobPlan& plan) {
  const auto& sweep = *job.batch->sweep;
  wire::PlanSweep out{.trials = sweep.trials,
                      .parallel = std::min(sweep.parallel, sweep.trials),
                      .most = job.budget};
  const auto one = std::ranges::find(plan.candidates, true, &wire::PlanCandidate::chosen);
  if (one == plan.candidates.end()) return out;
  const auto rounds = (out.trials + out.parallel - 1) / out.parallel;
  out.cost = std::min(out.most, Credits(one->cost.micro * out.trials));
  out.time = one->time * rounds;
  return out;
}

wire::SweepStatus sweep_view(const market::State& s, const market::Job& job,
                             const wire::Sweep& sweep) {
  wire::SweepStatus out{
      .sweep = sweep, .budget = job.terms.budget, .spent = job.spent, .free = s.free_budget(job)};
  const auto known = s.index.trials_of.find(job.id);
  if (known == s.index.trials_of.end()) return out;
  std::optional<double> best;
  for (const auto id : known->second) {
    const auto& trial = s.jobs.at(id);
    auto note = note_of(trial);
    if (note.value && (!out.best || job::is_better(sweep, note.value, best))) {
      out.best = note.number;
      best = note.value;
    }
    out.trials.push_back({.number = note.number,
                          .job = id,
                          .state = state_of(trial, note),
                          .parameters = std::move(note.parameters),
                          .epoch = note.epoch,
                          .value = note.value,
                          .rungs = std::move(note.rungs),
                          .spent = trial.spent,
                          .reason = trial.reason});
  }
  return out;
}

}  // namespace souk::server
