#include "server/tunnels/effects.h"

#include "base/hash.h"
#include "server/tunnels/line_desk.h"
#include "server/tunnels/service_desk.h"
#include "server/tunnels/service_specs.h"

namespace souk::server {
namespace {

// Volumes are kept like the checkpoints of a job that never ends: one for each account.
base::JobId keeper_of(base::AccountId owner) {
  return base::JobId((std::uint64_t{1} << 62) + owner.value);
}
std::int32_t place_of(const std::string& name) {
  return static_cast<std::int32_t>(base::short_hash(name) & 0x7fffffff);
}
// Of a job: beside its parts.
std::int32_t place_in_job(const std::string& name) { return -1 - place_of(name); }

void begin(Services& services, const market::State& s, const market::Lease& l) {
  const auto& job = s.jobs.at(l.job);
  if (!services.desk) return;
  if (const auto work = services.works.of(job); work && work->service)
    services.desk->began(spec_of(job.id, *work->service), l.id, l.epoch);
}

// A job that begins with a volume may read what is in it.
void hold_for(Services& services, const market::State& s, const market::Job& job) {
  for (const auto& name : job.volumes)
    if (const auto it = s.volumes.find(market::volume_key(job.owner, name)); it != s.volumes.end())
      services.pins.hold(job.id, job.owner, place_in_job(name), it->second.blob);
}

// Whose machine had the job's last lease, which may have been closed a moment ago.
base::AccountId last_lender(const market::State& s, const market::Job& job) {
  constexpr int most = 100'000;
  auto id = s.leases.before(s.leases.next());
  for (int i = 0; id && i < most; id = s.leases.before(id), ++i)
    if (const auto& l = s.leases.at(id); l.job == job.id && l.epoch == job.epoch) return l.lender;
  return {};
}

void follow_volumes(Services& services, Pool& pinner, const market::State& s,
                    const market::Event& event) {
  if (const auto* e = std::get_if<market::JobSubmitted>(&event); e && !e->job.volumes.empty())
    hold_for(services, s, s.jobs.at(e->job.id));
  if (const auto* e = std::get_if<market::VolumeSaved>(&event)) {
    const auto root = blob::parse_digest(e->volume.blob);
    if (!root) return;
    pinner.post([&services, v = e->volume, name = *root] {
      services.pins.hold(keeper_of(v.owner), v.owner, place_of(v.name), v.blob);
      services.pins.hold(v.job, v.owner, place_in_job(v.name), v.blob);
    });
    // The lender brought it; from now on it is the owner's.
    if (const auto lender = last_lender(s, s.jobs.at(e->volume.job));
        lender && lender != e->volume.owner)
      pinner.post([&services, lender, owner = e->volume.owner, name = *root] {
        services.claims.hand_over(lender, owner, Pins::names_in(name, *services.blobs));
      });
  }
  if (const auto* e = std::get_if<market::VolumeRemoved>(&event))
    pinner.post([&services, owner = e->owner, place = place_of(e->name)] {
      services.pins.drop(keeper_of(owner), place);
    });
}

}  // namespace

void follow_tunnels(Services& services, Pool& pinner, const market::State& s,
                    const market::Event& event) {
  follow_volumes(services, pinner, s, event);
  if (const auto* e = std::get_if<market::LeaseClosed>(&event)) {
    services.switchboard.left(s.leases.at(e->lease));
    if (services.desk) services.desk->gone(e->lease);
    if (services.lines) services.lines->gone(e->lease);
  }
  if (!services.desk) return;
  if (const auto* e = std::get_if<market::LeaseStarted>(&event))
    begin(services, s, s.leases.at(e->lease));
  if (const auto* e = std::get_if<market::LeaseDraining>(&event)) services.desk->drains(e->lease);
  if (const auto* e = std::get_if<market::JobEnded>(&event)) services.desk->ended(e->job);
}

void recall_tunnels(Services& services, const market::State& s) {
  for (const auto& [key, v] : s.volumes)
    services.pins.hold(keeper_of(v.owner), v.owner, place_of(v.name), v.blob);
  s.jobs.for_each([&](const market::Job& job) {
    if (market::is_final(job.state)) return;
    hold_for(services, s, job);
    for (const auto id : job.leases)
      if (const auto& l = s.leases.at(id); l.state == market::LeaseState::running)
        begin(services, s, l);
  });
}

}  // namespace souk::server
