#include "server/core/event_effects.h"

#include <algorithm>

#include "job/work.h"
#include "server/advice/profiles.h"
#include "server/tunnels/effects.h"

namespace souk::server {
namespace {

constexpr std::size_t kMostPinning = 65'536;

}  // namespace

EventEffects::EventEffects(Core& core, Feed& feed, Services& services, Pool& files)
    : core_(core), feed_(feed), services_(services), files_(files), pinner_(1, kMostPinning) {}

void EventEffects::on_applied(const market::State& s, const Committed& c) {
  tell(s, c);
  count_jobs(s, c.event);
  keep_files(s, c.event);
  end_trainings(s, c.event);
  note_forecast(s, c.event);
  services_.probes.on_applied(s, c.event);
  follow_tunnels(services_, pinner_, s, c.event);
  if (const auto* e = std::get_if<market::JobForgotten>(&c.event)) {
    // When the pool is full its logs stay until the folder is cleaned by hand: harmless.
    files_.post([this, job = e->job] { services_.logs.forget(job); });
    services_.works.forget(e->job);
  }
}

void EventEffects::count_jobs(const market::State& s, const market::Event& event) {
  base::JobId id;
  if (const auto* e = std::get_if<market::JobSubmitted>(&event)) id = e->job.id;
  if (const auto* e = std::get_if<market::JobEnded>(&event)) id = e->job;
  if (!id) return;
  const auto owner = s.jobs.at(id).owner;
  services_.budgets.live_jobs.set_used(
      party(owner), static_cast<std::uint64_t>(s.index.counts[owner.value].live_jobs));
}

void EventEffects::recall(const market::State& s) {
  services_.budgets.recount(s);
  services_.probes.recall(s);
  recall_tunnels(services_, s);
  s.jobs.for_each([this](const market::Job& job) {
    if (market::is_final(job.state)) return;
    if (const auto batch = services_.works.of(job))
      services_.pins.recall(job.id, job.owner, job::blobs_of(job.kind, *batch));
    for (const auto& part : job.parts)
      if (!part.checkpoint.empty())
        services_.pins.hold(job.id, job.owner, part.index, part.checkpoint);
  });
  if (services_.usage_log != nullptr)
    s.leases.for_each([&](const market::Lease& l) {
      if (l.state == market::LeaseState::closed) return;
      services_.telemetry.recall(l.id, services_.usage_log->read(l.id, l.granted, s.now));
    });
  services_.logs.recall([&s](base::JobId id) -> std::optional<LogOwner> {
    const auto* job = s.jobs.find(id);
    if (job == nullptr) return std::nullopt;
    return LogOwner{job->owner, market::is_final(job->state)};
  });
}

void EventEffects::tell(const market::State& s, const Committed& c) {
  if (auto described = Feed::describe(s, c))
    feed_.stage(c.number, std::move(described->first), std::move(described->second));
  const auto wake = [&](base::LeaseId lease) {
    if (const auto* l = s.leases.find(lease)) feed_.stage_work(c.number, l->machine);
  };
  if (const auto* e = std::get_if<market::LeaseGranted>(&c.event)) wake(e->lease.id);
  if (const auto* e = std::get_if<market::LeaseRenewed>(&c.event)) wake(e->lease);
  if (const auto* e = std::get_if<market::LeaseDraining>(&c.event)) wake(e->lease);
  if (const auto* e = std::get_if<market::LeaseClosed>(&c.event)) wake(e->lease);
  // Of a gang others start it.
  if (const auto* e = std::get_if<market::LeaseStarted>(&c.event))
    if (market::is_gang(s.jobs.at(s.leases.at(e->lease).job))) wake(e->lease);
}

void EventEffects::keep_files(const market::State& s, const market::Event& event) {
  // A trial has the files of its sweep, which are held already: nothing is read from the disk.
  if (const auto* e = std::get_if<market::JobSubmitted>(&event); e != nullptr && e->job.sweep)
    if (const auto batch = services_.works.of(e->job))
      services_.pins.recall(e->job.id, e->job.owner, job::blobs_of(e->job.kind, *batch));
  if (const auto* e = std::get_if<market::LeaseCheckpointed>(&event)) {
    const auto& l = s.leases.at(e->lease);
    pinner_.post([this, job = l.job, owner = l.borrower, part = l.part, name = e->checkpoint] {
      services_.pins.hold(job, owner, part, name);
    });
    hand_over(l, e->checkpoint);
  }
  if (const auto* e = std::get_if<market::LeaseClosed>(&event); e != nullptr && !e->result.empty())
    hand_over(s.leases.at(e->lease), e->result);
  if (const auto* e = std::get_if<market::JobResult>(&event))  // Packed by this server.
    if (const auto root = blob::parse_digest(e->result))
      pinner_.post([this, owner = s.jobs.at(e->job).owner, name = *root] {
        (void)services_.claims.claim(owner, Pins::names_in(name, *services_.blobs));
      });
  if (const auto* e = std::get_if<market::JobEnded>(&event)) {
    services_.logs.ended(e->job);
    services_.shares.ended(e->job);
    pinner_.post([this, job = e->job] { services_.pins.release(job); });
  }
}

void EventEffects::hand_over(const market::Lease& l, const std::string& folder) {
  const auto root = blob::parse_digest(folder);
  if (!root || l.lender == l.borrower) return;
  pinner_.post([this, lender = l.lender, borrower = l.borrower, name = *root] {
    services_.claims.hand_over(lender, borrower, Pins::names_in(name, *services_.blobs));
  });
}

void EventEffects::end_trainings(const market::State& s, const market::Event& event) {
  if (const auto* e = std::get_if<market::JobEnded>(&event))
    if (market::paid_by_work(s.jobs.at(e->job)))
      files_.post([this, job = e->job, reason = e->reason] { end_training(job, reason); });
  if (const auto* e = std::get_if<market::LeaseClosed>(&event))
    if (const auto* l = s.leases.find(e->lease); market::paid_by_work(s.jobs.at(l->job)))
      if (const auto run = services_.hub.find(l->job)) run->gone(l->id);
}

void EventEffects::note_forecast(const market::State& s, const market::Event& event) {
  if (services_.usage_log == nullptr) return;
  if (const auto* e = std::get_if<market::LeaseClosed>(&event))
    services_.usage_log->ended(e->lease);
  const auto* e = std::get_if<market::JobEnded>(&event);
  if (e == nullptr) return;
  const auto& job = s.jobs.at(e->job);
  if (job.forecast.empty() || job.started == base::Time()) return;
  const auto forecast = wire::from_json<wire::JobForecast>(job.forecast);
  if (!forecast) return;
  const wire::ForecastOutcome outcome{.job = job.id,
                                      .kind = job.kind,
                                      .class_ = s.slot_class(job.slot_class).name,
                                      .state = job.state,
                                      .ended = s.now,
                                      .forecast = forecast->quote(),
                                      .actual = {s.now - job.started, job.spent, true}};
  services_.usage_log->note(kForecastRecords, {job.id.value, s.now, wire::to_json(outcome)});
}

std::int64_t EventEffects::memory_of(const wire::Training& training) const {
  std::int64_t out = 0;
  for (const auto& w : training.by_worker)
    if (const auto id = base::IdTraits<base::LeaseId>::parse(w.worker))
      for (const auto& sample : services_.telemetry.series(*id))
        out = std::max(out, sample.usage.memory_peak_bytes);
  return out;
}

void EventEffects::end_training(base::JobId job, const std::string& reason) {
  if (const auto run = services_.hub.find(job)) {
    if (const auto ended = run->end(reason))
      core_.post([this, job, result = ended->result, training = run->view()](Core::Turn& turn) {
        (void)turn.execute(market::kSystem, market::ReportResult{job, result, false, {}});
        const auto* known = turn.state().jobs.find(job);
        const auto batch = known == nullptr ? nullptr : services_.works.of(*known);
        if (!batch) return;
        const auto lesson = learnt(turn.state(), *known, *batch, training, memory_of(training));
        if (!lesson || !turn.execute(market::kSystem, lesson->profile)) return;
        if (lesson->error) services_.forecast_errors.add(*lesson->error);
      });
  }
  services_.hub.forget(job);
}

}  // namespace souk::server
