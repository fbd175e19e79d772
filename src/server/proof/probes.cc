#include "server/proof/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"

namespace souk::server {
namespace {

constexpr std::uint64_t kPpmOne = 1'000'000;

// Does the machine lend slots of the class?
bool lends(const market::State& s, base::MachineId machine, market::ClassId slot_class) {
  return std::ranges::any_of(s.index.offers_of[machine.value], [&](base::OfferId id) {
    return s.offers.at(id).slot_class == slot_class;
  });
}

}  // namespace

// Not base::Random, whose numbers tell the next.
std::uint64_t Probes::draw() {
  return base::short_hash(fmt::format("probe {} {}", secret_, draws_++));
}

void Probes::recall(const market::State& s) {
  s.jobs.for_each([this](const market::Job& job) {
    if (market::is_probe(job) && !market::is_final(job.state)) probes_[job.id] = {};
  });
}

void Probes::on_applied(const market::State& s, const market::Event& event) {
  if (const auto* e = std::get_if<market::JobSubmitted>(&event); e && market::is_probe(e->job))
    probes_[e->job.id] = {};
  if (const auto* e = std::get_if<market::JobEnded>(&event)) probes_.erase(e->job);
  if (const auto* e = std::get_if<market::MachineRemoved>(&event)) {
    leases_.erase(e->machine);
    due_.erase(e->machine);
  }
  if (const auto* e = std::get_if<market::LeaseGranted>(&event))
    if (const auto it = probes_.find(e->lease.job); it != probes_.end()) it->second = {};
  if (const auto* e = std::get_if<market::LeaseClosed>(&event)) {
    if (e->wrong) leases_.erase(s.leases.at(e->lease).machine);
    if (e->outcome == market::LeaseOutcome::completed) count(s, s.leases.at(e->lease));
  }
}

void Probes::count(const market::State& s, const market::Lease& lease) {
  const auto& job = s.jobs.at(lease.job);
  if (market::is_probe(job) || market::paid_by_work(job) || job.work.empty()) return;
  auto& known = leases_[lease.machine];
  const bool is_new = known < kNewLeases;
  known = std::min(known + 1, kNewLeases);
  const auto ppm = static_cast<std::uint64_t>(s.settings.probes_ppm) * (is_new ? kNewFactor : 1);
  if (draw() % kPpmOne < ppm && due_.size() < kMostDue) due_.insert(lease.machine);
}

// One of those that its owner has not had, by lot.
Probes::Choice Probes::choose(const market::State& s, const market::Machine& machine,
                              base::Time now) {
  std::vector<base::JobId> fit;
  Choice out;
  for (const auto& [id, aimed_until] : probes_) {
    const auto& job = s.jobs.at(id);
    if (job.state == market::JobState::paused || job.owner == machine.owner ||
        job.held + job.done >= job.terms.workers.max || !lends(s, machine.id, job.slot_class) ||
        std::ranges::find(job.probed, machine.owner) != job.probed.end())
      continue;
    if (now < aimed_until)
      out.later = true;
    else
      fit.push_back(id);
  }
  if (!fit.empty()) out.probe = fit[draw() % fit.size()];
  return out;
}

void Probes::on_tick(const market::State& s, base::Time now,
                     const std::function<base::Result<>(market::Command)>& execute) {
  if (probes_.empty()) due_.clear();
  std::size_t looked_at = 0;
  for (auto it = due_.begin(); it != due_.end() && looked_at++ < kMostPerTick;) {
    const auto* machine = s.machines.find(*it);
    const bool lends_nothing = machine == nullptr || !machine->doubted.empty();
    const auto choice = lends_nothing ? Choice() : choose(s, *machine, now);
    if (!choice.probe && choice.later) {
      ++it;
      continue;
    }
    if (choice.probe && execute(market::AimProbe{choice.probe, machine->id}))
      probes_[choice.probe] = now + kPatience;
    it = due_.erase(it);
  }
}

}  // namespace souk::server
